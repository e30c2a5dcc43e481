//! The tool. capabilities.json lists what it may reach; the host checks every request against it.

mod bindings;

use bindings::{http_request, log, now, Level, Tool};
use serde_json::{json, Value};

struct Countdown;
bindings::export!(Countdown);

impl Tool for Countdown {
    fn description() -> String {
        "Counts the days until a date, or until the next public holiday of a country.".into()
    }

    /// The schema of params. The model reads it, and the host checks params against it before `execute`.
    fn schema() -> String {
        json!({
            "type": "object",
            "properties": {
                "date": { "type": "string", "format": "date", "description": "The day to count to, such as 2030-01-31" },
                "country": {
                    "type": "string",
                    "pattern": "^[A-Z]{2}$",
                    "description": "Instead of a date: count to the next public holiday of this country, such as DE"
                }
            },
            "additionalProperties": false
        })
        .to_string()
    }

    fn execute(params: &str) -> Result<String, String> {
        let params: Value = serde_json::from_str(params).map_err(|error| error.to_string())?;
        Ok(countdown(&params)?.to_string())
    }
}

fn countdown(params: &Value) -> Result<Value, String> {
    if let Some(date) = params["date"].as_str() {
        return Ok(json!({ "date": date, "days": days_until(date)? }));
    }
    let country = params["country"]
        .as_str()
        .ok_or("Give 'date' or 'country'.")?;
    let next = next_holiday(country)?;
    let date = next["date"].as_str().unwrap_or_default();
    Ok(json!({ "date": date, "name": next["name"], "days": days_until(date)? }))
}

fn next_holiday(country: &str) -> Result<Value, String> {
    let url = format!("https://date.nager.at/api/v3/NextPublicHolidays/{country}");
    log(
        Level::Info,
        &format!("fetching the public holidays of {country}"),
    );
    let response = http_request("GET", &url, "{}", None, None)?;
    let text = String::from_utf8_lossy(&response.body);
    if response.status != 200 {
        return Err(format!(
            "date.nager.at returned {}: {text:.200}",
            response.status
        ));
    }
    let holidays: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let next = holidays.get(0).cloned();
    next.ok_or_else(|| format!("No public holidays found for {country}."))
}

fn days_until(date: &str) -> Result<i64, String> {
    let today = now().as_secs() as i64 / 86_400;
    let day = day_number(date).ok_or_else(|| format!("{date} is not a date."))?;
    Ok(day - today)
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar.
fn day_number(date: &str) -> Option<i64> {
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::day_number;

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(day_number("1970-01-01"), Some(0));
        assert_eq!(day_number("2024-02-29"), Some(19_782));
        assert_eq!(day_number("2030-01-01"), Some(21_915));
        assert_eq!(day_number("some day"), None);
    }
}
