//! Form input.

use std::collections::BTreeMap;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, FromRequest, Request};

use super::frame::PageFailure;
use crate::failure::Failure;

/// The values of a form by control name.
#[derive(Clone, Debug, Default)]
pub struct Typed(BTreeMap<String, Vec<String>>);

impl Typed {
    /// All values of a control, for example of checkboxes that share a name.
    pub fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// The value of a control; empty if missing.
    pub fn one(&self, name: &str) -> &str {
        self.all(name).first().map_or("", String::as_str)
    }

    /// The value of a control; `None` if missing or empty.
    pub fn non_empty(&self, name: &str) -> Option<String> {
        Some(lines(self.one(name))).filter(|text| !text.trim().is_empty())
    }

    /// Replaces the values of a control.
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), vec![value.to_owned()]);
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(name, values)| values.iter().map(|value| (name.as_str(), value.as_str())))
    }
}

impl FromIterator<(String, String)> for Typed {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        let mut typed = BTreeMap::<String, Vec<String>>::new();
        for (name, value) in pairs {
            typed.entry(name).or_default().push(value);
        }
        Self(typed)
    }
}

impl<S: Send + Sync> FromRequest<S> for Typed {
    type Rejection = PageFailure;

    async fn from_request(request: Request, state: &S) -> Result<Self, PageFailure> {
        let pairs: Result<Form<Vec<(String, String)>>, FormRejection> = Form::from_request(request, state).await;
        match pairs {
            Ok(Form(pairs)) => Ok(pairs.into_iter().collect()),
            Err(rejection) => Err(Failure::new(rejection.status(), rejection.body_text()).into()),
        }
    }
}

/// Browsers end the lines of a text area with CR LF.
pub fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}
