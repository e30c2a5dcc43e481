//! The tool. capabilities.json lists what it may reach: nothing yet.

mod bindings;

use bindings::Tool;
use serde_json::{json, Value};

struct Blank;
bindings::export!(Blank);

impl Tool for Blank {
    fn description() -> String {
        "Repeats a text. The model decides by this sentence when to call the tool.".into()
    }

    /// The schema of params. The model reads it, and the host checks params against it before `execute`.
    fn schema() -> String {
        json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "The text to repeat" }
            },
            "required": ["text"],
            "additionalProperties": false
        })
        .to_string()
    }

    fn execute(params: &str) -> Result<String, String> {
        let params: Value = serde_json::from_str(params).map_err(|error| error.to_string())?;
        Ok(answer(&params)?.to_string())
    }
}

fn answer(params: &Value) -> Result<Value, String> {
    let text = params["text"].as_str().ok_or("Give 'text'.")?;
    Ok(json!({ "text": text }))
}

#[cfg(test)]
mod tests {
    use super::answer;
    use serde_json::json;

    #[test]
    fn a_text_is_needed() {
        assert!(answer(&json!({ "text": "Hello" })).is_ok());
        assert!(answer(&json!({})).is_err());
    }
}
