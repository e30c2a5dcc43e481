//! The tool. The host adds the token that capabilities.json names to each request; this code never sees it.

mod bindings;

use bindings::{http_request, Tool};
use serde_json::{json, Value};

struct Repositories;
bindings::export!(Repositories);

impl Tool for Repositories {
    fn description() -> String {
        "Lists the user's own GitHub repositories, the most recently pushed first.".into()
    }

    /// The schema of params. The model reads it, and the host checks params against it before `execute`.
    fn schema() -> String {
        json!({
            "type": "object",
            "properties": {
                "count": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 20,
                    "description": "How many to list; 5 unless given"
                }
            },
            "additionalProperties": false
        })
        .to_string()
    }

    fn execute(params: &str) -> Result<String, String> {
        let params: Value = serde_json::from_str(params).map_err(|error| error.to_string())?;
        let count = params["count"].as_u64().unwrap_or(5);
        let found = summarize(&fetch_repositories(count)?)?;
        Ok(found.to_string())
    }
}

fn fetch_repositories(count: u64) -> Result<String, String> {
    let url = format!("https://api.github.com/user/repos?sort=pushed&per_page={count}");
    let headers = json!({ "Accept": "application/vnd.github+json", "User-Agent": "my-tool" });
    let response = http_request("GET", &url, &headers.to_string(), None, None)?;
    let text = String::from_utf8_lossy(&response.body).into_owned();
    match response.status {
        200 => Ok(text),
        401 => Err("GitHub does not accept the token; the operator can set another one.".into()),
        status => Err(format!("GitHub returned {status}: {text:.200}")),
    }
}

fn summarize(text: &str) -> Result<Value, String> {
    let repositories: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(repositories
        .iter()
        .map(|one| {
            json!({ "name": one["full_name"], "url": one["html_url"], "pushed": one["pushed_at"] })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::summarize;

    #[test]
    fn a_repository_keeps_its_name() {
        let found = summarize(r#"[{"full_name":"octocat/hello-world","id":1}]"#).unwrap();
        assert_eq!(found[0]["name"], "octocat/hello-world");
        assert!(summarize("{}").is_err());
    }
}
