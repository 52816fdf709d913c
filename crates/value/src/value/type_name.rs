//! Elsa's type names: aliases, .NET full names, assembly-qualified names, nullable, arrays, collections.

use crate::spelling::nearest;

/// The types that the engine converts to, after .NET's type names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TypeName {
    /// No conversion.
    #[default]
    Any,
    /// `Boolean`.
    Boolean,
    /// `Int16`, `Int32`, `Int64`, `Byte`.
    Integer,
    /// `Single`, `Double`.
    Float,
    /// `Decimal`: kept as exact text.
    Decimal,
    /// `String`.
    String,
    /// `Guid`.
    Guid,
    /// `DateTime` and `DateTimeOffset`.
    DateTime,
    /// `TimeSpan`.
    TimeSpan,
    /// Collections and arrays.
    List,
    /// Objects and dictionaries: JSON text is parsed.
    Object,
    /// A class of the user's program: JSON text of an object or a list is parsed, any other value stays unchanged.
    Foreign,
}

impl TypeName {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "Any",
            Self::Boolean => "Boolean",
            Self::Integer => "Integer",
            Self::Float => "Float",
            Self::Decimal => "Decimal",
            Self::String => "String",
            Self::Guid => "Guid",
            Self::DateTime => "DateTime",
            Self::TimeSpan => "TimeSpan",
            Self::List => "List",
            Self::Object => "Object",
            Self::Foreign => "Foreign",
        }
    }
}

/// Reads a type name in any letter case. An unknown name is a class of the user's program ([`TypeName::Foreign`]).
///
/// `Object` is .NET's base type, which accepts any value unchanged; the JSON types and dictionaries are
/// [`TypeName::Object`].
pub fn parse_type_name(name: &str) -> TypeName {
    // Only the outermost name matters, or the one inside Nullable.
    let mut name = name.trim();
    for _ in 0..4 {
        let inner = nullable_argument(name);
        if inner == name {
            break;
        }
        name = inner;
    }
    let bare = assembly_stripped(name);
    if bare.ends_with(']') && (bare.ends_with("[]") || bare.ends_with(",]")) {
        return if is_byte(bare.trim_end_matches(['[', ']'])) { TypeName::Any } else { TypeName::List };
    }
    let (head, generic) = match bare.find(['`', '<', '[', '(']) {
        Some(at) => (&bare[..at], true),
        None => (bare, false),
    };
    let simple = head.rsplit(['.', '+']).next().unwrap_or(head).trim().to_ascii_lowercase();
    named(&simple, generic)
}

fn named(simple: &str, generic: bool) -> TypeName {
    match simple {
        "boolean" | "bool" => TypeName::Boolean,
        "byte" | "sbyte" | "int16" | "int32" | "int64" | "uint16" | "uint32" | "uint64" | "short" | "int" | "long"
        | "integer" | "ushort" | "uint" | "ulong" => TypeName::Integer,
        "single" | "double" | "float" => TypeName::Float,
        "decimal" | "numeric" => TypeName::Decimal,
        "string" | "char" => TypeName::String,
        "guid" | "uuid" => TypeName::Guid,
        "datetime" | "datetimeoffset" | "instant" => TypeName::DateTime,
        "timespan" => TypeName::TimeSpan,
        "json"
        | "expandoobject"
        | "jsonelement"
        | "jsonnode"
        | "jsonobject"
        | "jobject"
        | "stringdictionary"
        | "objectdictionary"
        | "stringmap"
        | "objectmap"
        | "dictionary"
        | "idictionary"
        | "ireadonlydictionary"
        | "sorteddictionary"
        | "hashtable" => TypeName::Object,
        "jsonarray" | "jarray" | "array" | "arraylist" | "icollection" | "ienumerable" | "ilist" => TypeName::List,
        "list"
        | "collection"
        | "hashset"
        | "iset"
        | "ireadonlycollection"
        | "ireadonlylist"
        | "iasyncenumerable"
        | "sortedset"
        | "queue"
        | "stack"
        | "linkedlist"
        | "observablecollection" => TypeName::List,
        "nullable" if generic => TypeName::Any,
        "" | "object" | "bytearray" | "byte[]" | "stream" => TypeName::Any,
        _ if simple.starts_with(char::is_alphabetic) => TypeName::Foreign,
        _ => TypeName::Any,
    }
}

/// Whether a type name is one of Elsa's, or that of a class with its namespace.
pub fn is_known_type(name: &str) -> bool {
    parse_type_name(name) != TypeName::Foreign || assembly_stripped(name.trim()).contains('.')
}

/// The types by their names in the documentation, each with its names in other systems.
const TYPES: [(&str, &[&str]); 16] = [
    ("Boolean", &["bit", "flag"]),
    ("Int32", &["int4", "int2", "smallint", "serial"]),
    ("Int64", &["bigint", "int8", "bigserial"]),
    ("Double", &["real", "float4", "float8", "double precision"]),
    ("Decimal", &["number", "money", "num"]),
    ("String", &["text", "varchar", "character varying", "str", "name"]),
    ("Guid", &[]),
    ("DateTime", &["timestamp", "timestamptz", "date", "time", "timestamp with time zone"]),
    ("DateTimeOffset", &[]),
    ("TimeSpan", &["interval", "duration"]),
    ("Object", &["jsonb", "any", "map", "record", "dict", "struct"]),
    ("List", &["set", "tuple", "sequence"]),
    ("Single", &[]),
    ("ByteArray", &["bytea", "bytes", "blob", "binary"]),
    ("ObjectDictionary", &[]),
    ("JsonElement", &[]),
];

/// The type that the author of an unknown type name probably meant.
pub fn meant_type(name: &str) -> Option<&'static str> {
    let lower = name.trim().to_lowercase();
    let alias = TYPES.iter().find(|(_, aliases)| aliases.contains(&lower.as_str()));
    alias.map(|(name, _)| *name).or_else(|| nearest(&lower, TYPES.iter().map(|(name, _)| *name)))
}

fn is_byte(element: &str) -> bool {
    let simple = element.rsplit('.').next().unwrap_or(element);
    simple.eq_ignore_ascii_case("byte")
}

/// `Int32?`, `Nullable<Int32>`, ``System.Nullable`1[[System.Int32, …]]`` → the inner name; others unchanged.
fn nullable_argument(name: &str) -> &str {
    let name = name.trim();
    if let Some(inner) = name.strip_suffix('?') {
        return inner.trim();
    }
    let head = name.find(['`', '<', '[']).unwrap_or(name.len());
    let simple = name[..head].rsplit('.').next().unwrap_or("");
    if head == name.len() || !simple.eq_ignore_ascii_case("nullable") {
        return name;
    }
    let arguments = name[head..].trim_start_matches('`').trim_start_matches('1').trim_start_matches(['[', '<']);
    arguments.split(['>', ']', ',']).next().unwrap_or(arguments).trim()
}

/// Cuts `, Assembly, Version=…` after the type itself: the first comma outside brackets.
fn assembly_stripped(name: &str) -> &str {
    let mut depth = 0i32;
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'[' | b'<' | b'(' => depth += 1,
            b']' | b'>' | b')' => depth -= 1,
            b',' if depth <= 0 => return name[..at].trim(),
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_other_systems_lead_to_those_that_are_meant() {
        for (name, meant) in [
            ("bigint", Some("Int64")),
            ("text", Some("String")),
            ("Timestamptz", Some("DateTime")),
            ("jsonb", Some("Object")),
            ("Strin", Some("String")),
            ("Order", None),
        ] {
            assert!(!is_known_type(name), "{name}");
            assert_eq!(meant_type(name), meant, "{name}");
        }
        for (name, aliases) in TYPES {
            assert!(is_known_type(name), "{name}");
            assert!(aliases.iter().all(|alias| !is_known_type(alias)), "{name}");
        }
        for name in ["My.Order", "My.Order, My.Program", "List<Order>", "Int32?", "", "uuid", "numeric"] {
            assert!(is_known_type(name), "{name}");
        }
    }

    #[test]
    fn elsa_names_are_understood() {
        use TypeName as T;
        for (name, expected) in [
            ("Boolean", T::Boolean),
            ("bool?", T::Boolean),
            ("int64", T::Integer),
            ("Nullable<Int32>", T::Integer),
            ("System.Nullable`1[[System.Int32, System.Private.CoreLib, Version=8.0.0.0]], mscorlib", T::Integer),
            ("System.Double, System.Private.CoreLib", T::Float),
            ("Decimal", T::Decimal),
            ("STRING", T::String),
            ("Guid", T::Guid),
            ("DateTimeOffset?", T::DateTime),
            ("TimeSpan", T::TimeSpan),
            ("Object", T::Any),
            ("ObjectDictionary", T::Object),
            ("System.Collections.Generic.IDictionary`2[[System.String],[System.Object]]", T::Object),
            ("System.Dynamic.ExpandoObject, System.Linq.Expressions", T::Object),
            ("JSON", T::Object),
            ("String[]", T::List),
            ("Object[,]", T::List),
            ("ICollection", T::List),
            ("System.Collections.Generic.ICollection`1[[System.Object, System.Private.CoreLib]], X", T::List),
            ("List<String>", T::List),
            ("ByteArray", T::Any),
            ("System.Byte[]", T::Any),
            ("Stream", T::Any),
            ("", T::Any),
            ("?", T::Any),
            ("]]]<", T::Any),
            ("My.Own.Type, My.Assembly", T::Foreign),
            ("Order", T::Foreign),
        ] {
            assert_eq!(parse_type_name(name), expected, "{name}");
        }
    }
}
