import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.InetAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import javax.net.SocketFactory;

/** Lets JDBC connect to the Unix socket of a private server: the servers of the tests listen on nothing else. */
public class UnixSocketFactory extends SocketFactory {
    private final UnixDomainSocketAddress address;

    public UnixSocketFactory(String path) {
        address = UnixDomainSocketAddress.of(path);
    }

    @Override public Socket createSocket() throws IOException {
        SocketChannel channel = SocketChannel.open(address);
        return new Socket() {
            @Override public void connect(SocketAddress endpoint, int timeout) {}
            @Override public boolean isConnected() { return channel.isConnected(); }
            @Override public boolean isClosed() { return !channel.isOpen(); }
            @Override public InputStream getInputStream() { return Channels.newInputStream(channel); }
            @Override public OutputStream getOutputStream() { return Channels.newOutputStream(channel); }
            @Override public void close() throws IOException { channel.close(); }
            @Override public void setTcpNoDelay(boolean on) {}
            @Override public void setKeepAlive(boolean on) {}
            @Override public void setSoTimeout(int milliseconds) {}
            @Override public int getSoTimeout() { return 0; }
        };
    }

    @Override public Socket createSocket(String host, int port) throws IOException { return createSocket(); }
    @Override public Socket createSocket(String host, int port, InetAddress from, int fromPort) throws IOException { return createSocket(); }
    @Override public Socket createSocket(InetAddress host, int port) throws IOException { return createSocket(); }
    @Override public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort) throws IOException { return createSocket(); }
}
