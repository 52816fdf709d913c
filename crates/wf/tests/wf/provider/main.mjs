// An identity provider for tests: oidc-provider on a free port, whose address is printed. Whoever comes to log in is the
// person that the test has named before; there is no form.
//
//   /control?gateway=URL   registers the client "workflow" for this gateway
//   /control?person=NAME   names the person who logs in next
//   /control?rotate        replaces the keys by new ones
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { Provider } = await import(pathToFileURL(createRequire(process.argv[2] + '/x').resolve('oidc-provider')));

const GROUPS = { ada: ['finance', 'board'], ben: ['finance'], eve: ['visitors'], robot: ['finance'] };
const API = 'https://workflows.example/api';

const newKeys = () => {
    const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
    return { keys: [{ ...key, use: 'sig', alg: 'RS256', kid: randomUUID() }] };
};

let keys = newKeys();
let gateway = 'http://127.0.0.1:1';
let person = 'ada';
let provider;

const configuration = () => ({
    jwks: keys,
    clients: [
        {
            client_id: 'workflow',
            client_secret: 'a secret of the gateway',
            redirect_uris: [`${gateway}/login/oidc/callback`],
            post_logout_redirect_uris: [`${gateway}/login`],
        },
        {
            client_id: 'robot',
            client_secret: 'a secret of the robot',
            grant_types: ['client_credentials'],
            redirect_uris: [],
            response_types: [],
        },
    ],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['of tests'] },
    pkce: { required: () => true },
    findAccount: (_, sub) => ({
        accountId: sub,
        claims: () => ({ sub, groups: GROUPS[sub], email: `${sub}@example.com`, email_verified: sub !== 'eve' }),
    }),
    extraTokenClaims: (_, token) => ({ groups: GROUPS[token.accountId ?? token.clientId] }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    loadExistingGrant: async (ctx) => {
        const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
    },
    features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        rpInitiatedLogout: { enabled: true },
        resourceIndicators: {
            enabled: true,
            defaultResource: (_, client) => (client.clientId === 'robot' ? API : undefined),
            useGrantedResource: () => true,
            getResourceServerInfo: () => ({ scope: '', audience: API, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }),
        },
    },
});

const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1');
    if (url.pathname === '/control') {
        gateway = url.searchParams.get('gateway') ?? gateway;
        person = url.searchParams.get('person') ?? person;
        if (url.searchParams.has('rotate')) keys = newKeys();
        if (!url.searchParams.has('person')) provider = new Provider(issuer, configuration());
        response.end('done');
    } else if (url.pathname.startsWith('/interaction/')) {
        await provider.interactionFinished(request, response, { login: { accountId: person } });
    } else {
        provider.callback()(request, response);
    }
});
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
provider = new Provider(issuer, configuration());
console.log(issuer);
