//! The C symbols of SQL-callable functions, and the frames in which PostgreSQL calls them.
//!
//! The functions are declared in `sql/functions`, where defaults, names and comments are readable; the macro
//! [`sql_functions!`] makes the symbols that it names.

use pgrx::pg_sys;

use crate::pg::args::Call;
use crate::pg::error::PgError;
use crate::pg::returned::Returned;
use crate::pg::signature::Signature;
use crate::pg::{entry, schema_number};

/// Makes the C symbols of SQL-callable functions: `name(argument: Type, …) => body`, where `body` is
/// `fn(&Call) -> Result<Returned, PgError>` and a type is one of [`SqlType`](crate::pg::signature::SqlType).
///
/// Each runs inside its own SPI connection, so that the result is made after SPI's memory is gone.
macro_rules! sql_functions {
    ($($name:ident($($argument:ident: $type:ident),*) => $body:path;)*) => { $(
        $crate::pg::symbols::sql_function!(
            $name, [$(stringify!($argument) => $type),*], $body, $crate::pg::symbols::call_body
        );
    )* };
}

/// Makes the C symbols of functions that run no statement: PostgreSQL may call them outside a session's transaction, as
/// in a WAL sender of logical replication. Their arguments have no names.
macro_rules! plain_functions {
    ($($name:ident => $body:path;)*) => { $(
        $crate::pg::symbols::sql_function!($name, [], $body, $crate::pg::symbols::call_plain);
    )* };
}

/// Makes the C symbols of one function, whose body `$call` runs.
macro_rules! sql_function {
    ($name:ident, [$($argument:expr => $type:ident),*], $body:path, $call:path) => {
        #[allow(unsafe_code)]
        const _: () = {
            static SIGNATURE: $crate::pg::signature::Signature = $crate::pg::signature::Signature {
                symbol: stringify!($name),
                arguments: &[$(($argument, $crate::pg::signature::SqlType::$type)),*],
                checked: ::std::sync::atomic::AtomicU32::new(0),
            };

            #[unsafe(export_name = stringify!($name))]
            unsafe extern "C-unwind" fn function(fcinfo: ::pgrx::pg_sys::FunctionCallInfo) -> ::pgrx::pg_sys::Datum {
                // SAFETY: PostgreSQL calls this with the running call, and this frame owns nothing.
                unsafe { $call(fcinfo, &SIGNATURE, $body) }
            }

            /// Declares calling convention version 1 for the function.
            #[unsafe(export_name = concat!("pg_finfo_", stringify!($name)))]
            extern "C-unwind" fn function_info() -> &'static ::pgrx::pg_sys::Pg_finfo_record {
                const VERSION_1: ::pgrx::pg_sys::Pg_finfo_record = ::pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
                &VERSION_1
            }
        };
    };
}

pub(crate) use {plain_functions, sql_function, sql_functions};

/// Runs the body of a function and raises its error.
///
/// # Safety
/// Only for the frame that PostgreSQL called, with what it passed.
pub unsafe fn call_body(
    fcinfo: pg_sys::FunctionCallInfo,
    signature: &'static Signature,
    body: fn(&Call) -> Result<Returned, PgError>,
) -> pg_sys::Datum {
    // SAFETY: as the caller's; `entry` leaves no frame of ours behind.
    unsafe {
        entry::entry(|| {
            let call = Call::new(fcinfo, signature);
            schema_number::require()?;
            signature.check(fcinfo)?;
            pg_sys::SPI_connect();
            let outcome = body(&call);
            // After an error the abort of the (sub)transaction cleans up SPI, as for any C function.
            let returned = outcome?;
            pg_sys::SPI_finish();
            Ok(returned.into_datum(&call))
        })
    }
}

/// Runs the body of a function that runs no statement.
///
/// # Safety
/// As for [`call_body`].
pub unsafe fn call_plain(
    fcinfo: pg_sys::FunctionCallInfo,
    signature: &'static Signature,
    body: fn(&Call) -> Result<Returned, PgError>,
) -> pg_sys::Datum {
    // SAFETY: as the caller's; `entry` leaves no frame of ours behind.
    unsafe {
        entry::entry(|| {
            let call = Call::new(fcinfo, signature);
            body(&call).map(|returned| returned.into_datum(&call))
        })
    }
}
