//! The members of an activity's JSON that authors edit in a designer, with their editors.

use super::descriptor::{Descriptor, ForeignLanguage, InputDescriptor, Special};

/// One member of an activity's JSON, as a designer offers it.
#[derive(Clone, Copy, Debug)]
pub struct DesignerField<'a> {
    /// Name, as in the JSON of the activity.
    pub name: &'a str,
    /// Type of its value, with Elsa's name.
    pub type_name: &'a str,
    /// Default, JSON text.
    pub default: Option<&'a str>,
    /// Whether Elsa rejects publishing a definition without it.
    pub required: bool,
    /// Its meaning, in a sentence.
    pub description: &'a str,
    /// Elsa's UI hint.
    pub hint: &'a str,
    /// The permitted constants; empty if there are many.
    pub choices: &'a [&'a str],
    /// Language of the code in it, for syntax highlighting; `None`: it is no code.
    pub language: Option<&'a str>,
    /// Whether it has Elsa's wrapper with a type and an expression.
    pub is_wrapped: bool,
}

impl Descriptor {
    /// The members that an author edits, in a designer's order. Child activities are not included: they are ports.
    pub fn fields(&self) -> impl Iterator<Item = DesignerField<'static>> + use<> {
        let (inputs, parts) = (self.inputs, self.parts);
        let special = match self.special {
            Special::Variable => Some((Special::VARIABLE, "The variable.")),
            Special::Result => Some((Special::RESULT_VARIABLE, "The variable whose value is the result.")),
            Special::None | Special::Connections | Special::States => None,
        };
        let bare = |name, type_name, description, hint| DesignerField {
            name,
            type_name,
            default: None,
            required: false,
            description,
            hint,
            choices: &[],
            language: None,
            is_wrapped: false,
        };
        let variable = special.map(|(name, meaning)| bare(name, "Variable", meaning, "variable-picker"));
        let lists = parts.iter().filter_map(move |list| {
            let hint = list.hint?;
            let language = (hint == "code-editor").then_some("json");
            Some(DesignerField { language, ..bare(list.name, "Object", "A list.", hint) })
        });
        variable.into_iter().chain(lists).chain(inputs.iter().map(InputDescriptor::field))
    }
}

impl InputDescriptor {
    fn field(&self) -> DesignerField<'_> {
        DesignerField {
            name: self.name,
            type_name: self.type_name,
            default: self.default,
            required: self.required,
            description: self.description,
            hint: self.hint.unwrap_or_else(|| self.usual_hint()),
            choices: self.choices,
            language: self.language(),
            is_wrapped: !self.bare,
        }
    }

    fn language(&self) -> Option<&'static str> {
        match self.code {
            Some(ForeignLanguage::CSharp) => Some("csharp"),
            Some(ForeignLanguage::Python) => Some("python"),
            None if self.script => Some("javascript"),
            None if self.statement => Some("sql"),
            None => self.language,
        }
    }

    fn usual_hint(&self) -> &'static str {
        let is_list = self.type_name.ends_with("[]") || self.type_name.starts_with("ICollection<");
        match self.type_name {
            _ if self.language().is_some() => "code-editor",
            _ if !self.choices.is_empty() && is_list => "checklist",
            _ if !self.choices.is_empty() => "dropdown",
            "Boolean" => "checkbox",
            "DateTime" => "datetime-picker",
            "ICollection<String>" | "String[]" => "multitext",
            "Object" => "multiline",
            _ if is_list => "json-editor",
            "ObjectDictionary" | "AlterationPlanParams" => "json-editor",
            _ => "singleline",
        }
    }
}
