//! Many nodes: which partitions of correlation ids this one has, and instances that move from one to another.

use serde_json::json;

use crate::pg::function::Predicate;
use crate::pg::symbols::sql_functions;
use crate::pg::{Call, PgError, Returned, role};
use crate::run::call::frame;
use crate::run::history::acts;
use crate::run::nodes::export::{self, Selection};
use crate::run::nodes::{check, import, keep};
use crate::store::nodes::partitions::{self, MAX_PARTITIONS};

sql_functions! {
    wf_partition(key: Text, count: Integer) => partition;
    wf_add_partitions(partitions: Integers, count: Integer) => add;
    wf_remove_partitions(partitions: Integers) => remove;
    wf_export_instances(keys: Texts, predicate: Regprocedure, remove: Boolean) => export_instances;
    wf_import_instances(bundle: Byteas) => import_instances;
    wf_keep_instances(predicate: Regprocedure, max: Integer, keyless: Boolean, dry_run: Boolean, max_percent: Integer)
        => keep_instances;
    wf_check_route() => check_route;
}

fn partition(call: &Call) -> Result<Returned, PgError> {
    let (key, count): (String, i32) = (call.required("key")?, call.required("count")?);
    require_count(count)?;
    Ok(Returned::Integer(partitions::of(&key, count.unsigned_abs()).cast_signed()))
}

fn require_count(count: i32) -> Result<(), PgError> {
    if count.unsigned_abs().is_power_of_two() && (1..=MAX_PARTITIONS).contains(&count) {
        return Ok(());
    }
    Err(PgError::new("22023", "argument \"count\" must be a power of two")
        .detail(format!("It is {count}, and {MAX_PARTITIONS} is the most."))
        .hint("Choose far more partitions than there will ever be nodes, such as 1024."))
}

fn partition_numbers(call: &Call) -> Result<Vec<i32>, PgError> {
    call.integers("partitions")?.ok_or_else(|| PgError::new("22004", "argument \"partitions\" must not be NULL"))
}

fn add(call: &Call) -> Result<Returned, PgError> {
    role::require_superuser("add partitions")?;
    let (wanted, count): (Vec<i32>, i32) = (partition_numbers(call)?, call.required("count")?);
    require_count(count)?;
    if let Some(other) = wanted.iter().find(|partition| !(0..count).contains(*partition)) {
        return Err(PgError::new("22023", format!("partition {other} does not exist"))
            .detail(format!("The {count} partitions are numbered from 0 to {}.", count - 1)));
    }
    partitions::lock(&wanted);
    let known = partitions::all().count;
    if known > 0 && known != count.unsigned_abs() {
        return Err(PgError::new("22023", format!("this node counts {known} partitions, not {count}"))
            .hint("All nodes count the same. Remove the partitions of this node first to count them anew."));
    }
    let added = partitions::add(&wanted, count);
    acts::record("add partitions", None, &json!({ "partitions": wanted, "count": count }))?;
    counted(added)
}

fn remove(call: &Call) -> Result<Returned, PgError> {
    role::require_superuser("remove partitions")?;
    let wanted = partition_numbers(call)?;
    partitions::lock(&wanted);
    let removed = partitions::remove(&wanted);
    acts::record("remove partitions", None, &json!({ "partitions": wanted }))?;
    counted(removed)
}

fn counted(changed: u64) -> Result<Returned, PgError> {
    Ok(Returned::BigInt(i64::try_from(changed).unwrap_or(i64::MAX)))
}

fn export_instances(call: &Call) -> Result<Returned, PgError> {
    role::require_superuser("export workflow instances")?;
    let selection = match (call.texts("keys")?, call.arg("predicate")) {
        (Some(keys), None) => Selection::Keys(keys),
        (None, Some(function)) => Selection::Predicate(Predicate::of(function)?),
        _ => {
            return Err(PgError::new("22023", "either argument \"keys\" or argument \"predicate\" must be given")
                .hint("They say which correlation ids are exported."));
        }
    };
    let remove = call.required("remove")?;
    let pieces = export::export(selection, remove)?;
    if remove {
        acts::record("export instances", None, &json!({ "pieces": pieces.len() }))?;
    }
    Ok(Returned::Rows(pieces.into_iter().map(|piece| vec![Returned::Bytea(piece)]).collect()))
}

fn import_instances(call: &Call) -> Result<Returned, PgError> {
    role::require_superuser("import workflow instances")?;
    let bundles = call.byteas("bundle")?;
    let bundles = bundles.ok_or_else(|| PgError::new("22004", "argument \"bundle\" must not be NULL"))?;
    let imported = frame::begin(|context| import::import(context, &bundles))?;
    acts::record("import instances", None, &json!({ "instances": imported }))?;
    counted(imported)
}

fn keep_instances(call: &Call) -> Result<Returned, PgError> {
    role::require_superuser("remove workflow instances of other nodes")?;
    let predicate = call.arg("predicate").map(Predicate::of).transpose()?;
    let max: i32 = call.required("max")?;
    let Some(max) = u64::try_from(max).ok().filter(|max| *max > 0) else {
        return Err(PgError::new("22023", "argument \"max\" must be positive"));
    };
    let max_percent: i32 = call.required("max_percent")?;
    let Some(max_percent) = u64::try_from(max_percent).ok().filter(|percent| *percent <= 100) else {
        return Err(PgError::new("22023", "argument \"max_percent\" must be between 0 and 100"));
    };
    let keyless = call.required("keyless")?;
    if call.required("dry_run")? {
        return counted(keep::count(predicate.as_ref(), keyless)?);
    }
    let removed = keep::keep(predicate.as_ref(), &keep::Options { max, keyless, max_percent })?;
    acts::record("keep instances", None, &json!({ "removed": removed }))?;
    counted(removed)
}

/// For `wf_check`, as whose owner it runs: a user's function must not be called with another role's rights.
fn check_route(_: &Call) -> Result<Returned, PgError> {
    let found = check::misplaced()?;
    Ok(Returned::Rows(
        found.into_iter().map(|(problem, detail)| vec![Returned::Text(problem), Returned::Text(detail)]).collect(),
    ))
}
