//! Where values of options come from besides the command line: the environment and the configuration file. Both become
//! properties of clap's options, so that clap validates their values as it does those of the command line.

use std::io::ErrorKind;
use std::path::PathBuf;

use clap::{Arg, ArgAction, Command};
use toml::{Table, Value};

/// The file that is read if none is named.
const DEFAULT_FILE: &str = "/etc/wf/wf.toml";

/// A table of the file: its name, which is also that of the command whose options it has, and the other commands that
/// take options of the same name from it.
struct Section {
    name: &'static str,
    other_commands: &'static [&'static str],
}

const SECTIONS: [Section; 2] =
    [Section { name: "serve", other_commands: &["key", "studio"] }, Section { name: "work", other_commands: &[] }];

impl Section {
    fn has_command(&self, name: &str) -> bool {
        self.name == name || self.other_commands.contains(&name)
    }

    /// Changes the commands that take options of this section, which `wf doctor` has once more as its own subcommands.
    fn change_commands(&self, command: Command, change: &dyn Fn(Command) -> Command) -> Command {
        command.mut_subcommands(|sub| match sub.get_name() {
            name if self.has_command(name) => change(sub),
            "doctor" => sub.mut_subcommands(|of| if of.get_name() == self.name { change(of) } else { of }),
            _ => sub,
        })
    }
}

/// The command with the variables of the environment, and with the values of the file as defaults.
pub fn configured(command: Command) -> Result<Command, String> {
    let command = with_variables(command);
    let (file, subcommand) = selected(&command);
    match read_file(file, subcommand.as_deref())? {
        Some((path, table)) => {
            with_file(command, table, subcommand.as_deref()).map_err(|problem| format!("{}: {problem}", path.display()))
        }
        None => Ok(command),
    }
}

/// The environment variable of an option: `WF_DATABASE`, and for `--listen` of `wf serve` `WF_SERVE_LISTEN`.
pub fn with_variables(command: Command) -> Command {
    let command = command.mut_args(|arg| with_variable(arg, "WF_"));
    SECTIONS.iter().fold(command, |command, section| {
        let (names, prefix) = (options_of(&command, section.name), format!("WF_{}_", section.name.to_uppercase()));
        let is_own = |name: &str| names.iter().any(|of| of == name);
        section.change_commands(command, &|sub| for_options(sub, &is_own, &|arg| with_variable(arg, &prefix)))
    })
}

fn with_variable(arg: Arg, prefix: &str) -> Arg {
    match arg.get_long().map(|name| format!("{prefix}{}", name.replace('-', "_").to_uppercase())) {
        Some(variable) => arg.env(variable).hide_env_values(true),
        None => arg,
    }
}

/// Finds the configuration file and the subcommand, before clap parses the arguments.
fn selected(command: &Command) -> (Option<PathBuf>, Option<String>) {
    let lenient = command.clone().ignore_errors(true).disable_help_flag(true).disable_version_flag(true);
    let matches = lenient.get_matches();
    let subcommand = match matches.subcommand() {
        Some(("doctor", of)) => of.subcommand_name().or(Some("doctor")),
        of => of.map(|(name, _)| name),
    };
    (matches.get_one::<PathBuf>("config").cloned(), subcommand.map(str::to_owned))
}

/// Reads the file. That of the package may be missing; and only those who run its services can read it, so that for
/// other commands it does as if it were.
fn read_file(named: Option<PathBuf>, subcommand: Option<&str>) -> Result<Option<(PathBuf, Table)>, String> {
    let is_named = named.is_some();
    let needs_file = SECTIONS.iter().any(|section| subcommand == Some(section.name));
    let path = named.unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if !is_named && error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if !is_named && !needs_file && error.kind() == ErrorKind::PermissionDenied => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    let table = parse(&text).map_err(|problem| format!("{}:{problem}", path.display()))?;
    Ok(Some((path, table)))
}

/// Parses the file. The text of the parser's error would quote a line, which may contain a password.
fn parse(text: &str) -> Result<Table, String> {
    text.parse().map_err(|error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
        format!("{line}: {}", error.message())
    })
}

/// Turns the values of the file into defaults. What stands in the table of the subcommand wins over the top.
fn with_file(command: Command, file: Table, subcommand: Option<&str>) -> Result<Command, String> {
    let (mut top, mut command) = (Table::new(), command);
    let shared = shared_options(&command);
    for (name, value) in file {
        match (SECTIONS.iter().find(|section| section.name == name), value) {
            (Some(section), Value::Table(table)) => {
                let (of_all, own) = parted(table, &shared, &options_of(&command, section.name), section.name)?;
                if subcommand.is_some_and(|subcommand| section.has_command(subcommand)) {
                    top.extend(of_all);
                }
                command = with_defaults_in(command, section, &own);
            }
            (None, value) if shared.contains(&name) => {
                check(&name, &value)?;
                top.entry(name).or_insert(value);
            }
            _ => return Err(format!("there is no option {name}")),
        }
    }
    Ok(command.mut_args(|arg| with_default(arg, &top)))
}

/// Separates what all commands share from the command's own options.
fn parted(table: Table, shared: &[String], own: &[String], section: &str) -> Result<(Table, Table), String> {
    let (mut of_all, mut of_own) = (Table::new(), Table::new());
    for (name, value) in table {
        check(&name, &value)?;
        if own.contains(&name) {
            of_own.insert(name, value);
        } else if shared.contains(&name) {
            of_all.insert(name, value);
        } else {
            return Err(format!("there is no option {name} in [{section}]"));
        }
    }
    Ok((of_all, of_own))
}

fn check(name: &str, value: &Value) -> Result<(), String> {
    let is_simple = |value: &Value| matches!(value, Value::String(_) | Value::Integer(_) | Value::Boolean(_));
    match value {
        Value::Array(items) if items.iter().all(is_simple) => Ok(()),
        value if is_simple(value) => Ok(()),
        _ => Err(format!("{name} must be a text, an integer, true or false, or a list of these")),
    }
}

fn with_defaults_in(command: Command, section: &Section, values: &Table) -> Command {
    let is_given = |name: &str| values.contains_key(name);
    section.change_commands(command, &|sub| for_options(sub, &is_given, &|arg| with_default(arg, values)))
}

/// Changes the options whose name is selected, in a command and in its subcommands.
fn for_options(command: Command, is_selected: &dyn Fn(&str) -> bool, change: &dyn Fn(Arg) -> Arg) -> Command {
    let changed = |arg: Arg| if arg.get_long().is_some_and(is_selected) { change(arg) } else { arg };
    command.mut_args(changed).mut_subcommands(|sub| for_options(sub, is_selected, change))
}

/// The value of the file becomes the default, which --help does not show: it may contain a password.
fn with_default(arg: Arg, values: &Table) -> Arg {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match arg.get_long().and_then(|name| values.get(name)) {
        Some(Value::Array(items)) if matches!(arg.get_action(), ArgAction::Append) => {
            arg.default_values(items.iter().map(text)).hide_default_value(true)
        }
        Some(value) => {
            let default = text(value);
            arg.default_value(default).hide_default_value(true)
        }
        None => arg,
    }
}

/// The names of the options that all commands share and the file may have.
fn shared_options(command: &Command) -> Vec<String> {
    let names = command.get_arguments().filter_map(Arg::get_long);
    names.filter(|name| !["config", "help", "version"].contains(name)).map(str::to_owned).collect()
}

/// The names of a command's own options.
fn options_of(command: &Command, name: &str) -> Vec<String> {
    let own = command.find_subcommand(name).into_iter().flat_map(Command::get_arguments);
    own.filter_map(Arg::get_long).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use clap::{Args, Parser, Subcommand};

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(subcommand)]
        command: Commands,
        #[arg(long, global = true, default_value = "nowhere")]
        database: String,
        #[arg(long, global = true)]
        config: Option<PathBuf>,
    }

    #[derive(Subcommand)]
    enum Commands {
        Serve(Serving),
        #[command(subcommand)]
        Key(Keys),
        Status,
    }

    #[derive(Args)]
    struct Serving {
        #[arg(long, default_value = "a")]
        keys: String,
        #[arg(long, default_value_t = 1)]
        number: u8,
        #[arg(long)]
        names: Vec<String>,
    }

    #[derive(Subcommand)]
    enum Keys {
        Add {
            #[arg(long)]
            keys: Option<String>,
        },
    }

    /// What the program reads if the file has this text.
    fn read(text: &str, arguments: &[&str]) -> Result<Program, String> {
        use clap::{CommandFactory as _, FromArgMatches as _};
        let subcommand = arguments.iter().copied().find(|word| !word.starts_with('-'));
        let command = with_file(with_variables(Program::command()), text.parse().unwrap(), subcommand)?;
        let matches = command.try_get_matches_from([&["wf"], arguments].concat()).map_err(|error| error.to_string())?;
        Program::from_arg_matches(&matches).map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_is_for_its_command_and_wins_over_the_top() {
        let file = "database = 'top'\n[serve]\ndatabase = 'table'\nkeys = 'k'\nnumber = 7\nnames = ['x', 'y']";
        let Ok(Program { command: Commands::Serve(serving), database, .. }) = read(file, &["serve"]) else { panic!() };
        assert_eq!((&*database, &*serving.keys, serving.number), ("table", "k", 7));
        assert_eq!(serving.names, ["x", "y"]);
        let given = read(file, &["serve", "--database", "given", "--names", "z"]).ok().unwrap();
        let Commands::Serve(serving) = given.command else { panic!() };
        assert_eq!((&*given.database, serving.names), ("given", vec!["z".to_owned()]));
        assert_eq!(read(file, &["status"]).ok().unwrap().database, "top");
        let Ok(Program { command: Commands::Key(Keys::Add { keys }), .. }) = read(file, &["key", "add"]) else {
            panic!()
        };
        assert_eq!(keys.as_deref(), Some("k"));
    }

    #[test]
    fn values_of_the_file_are_not_shown() {
        let help =
            read("database = 'password=s3cr3t'\n[serve]\nkeys = 's3cr3t'\nnames = ['s3cr3t']", &["serve", "--help"]);
        let help = help.err().unwrap();
        assert!(help.contains("--keys") && !help.contains("s3cr3t"), "{help}");
        let error = parse("# a\ndatabase = \"password=s3cr3t\n").expect_err("no TOML");
        assert!(error.starts_with("2: ") && !error.contains("s3cr3t") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn what_is_unknown_or_has_no_option_s_form_is_named() {
        for (file, said) in [
            ("databse = 'x'", "there is no option databse"),
            ("config = 'x'", "there is no option config"),
            ("[serve]\nnumbr = 1", "there is no option numbr in [serve]"),
            ("[work]\nnumber = 1", "there is no option number in [work]"),
            ("serve = 1", "there is no option serve"),
            ("[database]\nhost = 'x'", "database must be"),
            ("[serve]\nnumber = [[1]]", "number must be"),
            ("[serve]\nnumber = 300", "300"),
        ] {
            let refused = read(file, &["serve"]).err().unwrap();
            assert!(refused.contains(said), "{file}: {refused}");
        }
    }
}
