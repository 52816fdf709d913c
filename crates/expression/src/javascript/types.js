// .NET's types as scripts written for Elsa use them: spans, instants, ids, random numbers.
//
// An instant or a span is a number where it is compared and .NET's text everywhere else. Ids are text.
// Members are found in camelCase, too. There is no local time: every instant is UTC.
(native) => {
    "use strict";
    const { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames } = Object;
    const RAW = Symbol("raw");
    const TICKS = { Days: 864e9, Hours: 36e9, Minutes: 6e8, Seconds: 1e7, Milliseconds: 1e4, Ticks: 1 };
    const pad = (number, length = 2) => String(Math.abs(number)).padStart(length, "0");
    const whole = (number, what) => {
        const value = Number(number);
        if (!Number.isFinite(value)) {
            throw new TypeError(`${what} must be a number`);
        }
        return Math.round(value);
    };
    const primitive = (type, number) => {
        defineProperty(type.prototype, Symbol.toPrimitive, {
            value(hint) {
                return hint === "number" ? this[number] : this.toString();
            },
        });
    };

    class TimeSpan {
        #ticks;
        constructor(...parts) {
            const values = parts.map((part) => whole(part, "a part of a span"));
            const [days, hours, minutes, seconds, milliseconds = 0] = values.length === 3 ? [0, ...values] : values;
            this.#ticks = values.length < 2 ? (values[0] ?? 0)
                : days * TICKS.Days + hours * TICKS.Hours + minutes * TICKS.Minutes
                    + (seconds ?? 0) * TICKS.Seconds + milliseconds * TICKS.Milliseconds;
        }
        static Parse(text) {
            if (text instanceof TimeSpan) {
                return text;
            }
            const found = /^\s*(-)?(?:(?:(\d+)\.)?(\d+):(\d+)(?::(\d+)(?:\.(\d{1,7}))?)?|(\d+))\s*$/.exec(String(text));
            if (found === null) {
                throw new TypeError(`invalid TimeSpan: "${String(text).slice(0, 60)}"`);
            }
            const [, sign, days = found[7] ?? 0, hours = 0, minutes = 0, seconds = 0, fraction = ""] = found;
            const ticks = days * TICKS.Days + hours * TICKS.Hours + minutes * TICKS.Minutes
                + seconds * TICKS.Seconds + Number(fraction.padEnd(7, "0"));
            return new TimeSpan(sign === undefined ? ticks : -ticks);
        }
        static Compare(one, two) {
            return Math.sign(TimeSpan.Parse(one).#ticks - TimeSpan.Parse(two).#ticks);
        }
        get Ticks() { return this.#ticks; }
        get Days() { return Math.trunc(this.#ticks / TICKS.Days); }
        get Hours() { return Math.trunc(this.#ticks / TICKS.Hours) % 24; }
        get Minutes() { return Math.trunc(this.#ticks / TICKS.Minutes) % 60; }
        get Seconds() { return Math.trunc(this.#ticks / TICKS.Seconds) % 60; }
        get Milliseconds() { return Math.trunc(this.#ticks / TICKS.Milliseconds) % 1000; }
        Add(other) { return new TimeSpan(this.#ticks + TimeSpan.Parse(other).#ticks); }
        Subtract(other) { return new TimeSpan(this.#ticks - TimeSpan.Parse(other).#ticks); }
        Multiply(factor) { return new TimeSpan(this.#ticks * Number(factor)); }
        Divide(divisor) { return new TimeSpan(this.#ticks / Number(divisor)); }
        Negate() { return new TimeSpan(-this.#ticks); }
        Duration() { return new TimeSpan(Math.abs(this.#ticks)); }
        Equals(other) { return TimeSpan.Compare(this, other) === 0; }
        CompareTo(other) { return TimeSpan.Compare(this, other); }
        ToString() {
            const days = this.Days === 0 ? "" : `${Math.abs(this.Days)}.`;
            const fraction = this.#ticks % TICKS.Seconds === 0 ? "" : `.${pad(this.#ticks % TICKS.Seconds, 7)}`;
            const clock = `${pad(this.Hours)}:${pad(this.Minutes)}:${pad(this.Seconds)}`;
            return `${this.#ticks < 0 ? "-" : ""}${days}${clock}${fraction}`;
        }
        toString() { return this.ToString(); }
        toJSON() { return this.ToString(); }
    }
    for (const [unit, ticks] of Object.entries(TICKS)) {
        const from = (count) => new TimeSpan(Number(count) * ticks);
        defineProperty(TimeSpan, `From${unit}`, { value: from, configurable: true });
        if (unit !== "Ticks") {
            const total = function total() { return this.Ticks / ticks; };
            defineProperty(TimeSpan.prototype, `Total${unit}`, { get: total, configurable: true });
        }
    }
    defineProperty(TimeSpan, "Zero", { value: new TimeSpan(0), configurable: true });
    primitive(TimeSpan, "Ticks");

    const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December"];
    const FIRST = -62135596800000;
    const LAST = 253402300799999;
    const milliseconds = (value) => {
        const found = value instanceof DateTime ? value.ms : new Date(value ?? NaN).getTime();
        if (Number.isNaN(found)) {
            throw new TypeError(`invalid DateTime: "${String(value).slice(0, 60)}"`);
        }
        return found;
    };
    const hours12 = (date) => date.getUTCHours() % 12 || 12;
    const PIECES = {
        yyyy: (date) => pad(date.getUTCFullYear(), 4), yy: (date) => pad(date.getUTCFullYear() % 100),
        MMMM: (date) => MONTHS[date.getUTCMonth()], MMM: (date) => MONTHS[date.getUTCMonth()].slice(0, 3),
        MM: (date) => pad(date.getUTCMonth() + 1), M: (date) => String(date.getUTCMonth() + 1),
        dddd: (date) => WEEKDAYS[date.getUTCDay()], ddd: (date) => WEEKDAYS[date.getUTCDay()].slice(0, 3),
        dd: (date) => pad(date.getUTCDate()), d: (date) => String(date.getUTCDate()),
        HH: (date) => pad(date.getUTCHours()), H: (date) => String(date.getUTCHours()),
        hh: (date) => pad(hours12(date)), h: (date) => String(hours12(date)),
        mm: (date) => pad(date.getUTCMinutes()), m: (date) => String(date.getUTCMinutes()),
        ss: (date) => pad(date.getUTCSeconds()), s: (date) => String(date.getUTCSeconds()),
        fff: (date) => pad(date.getUTCMilliseconds(), 3),
        tt: (date) => (date.getUTCHours() < 12 ? "AM" : "PM"),
        zzz: () => "+00:00", K: () => "Z",
    };
    const STANDARD = { d: "MM/dd/yyyy", t: "HH:mm", T: "HH:mm:ss", g: "MM/dd/yyyy HH:mm", G: "MM/dd/yyyy HH:mm:ss",
        s: "yyyy-MM-ddTHH:mm:ss", u: "yyyy-MM-dd HH:mm:ssZ" };
    const format = (date, wanted) => {
        const pattern = STANDARD[wanted] ?? wanted;
        return pattern.replace(/'([^']*)'|yyyy|yy|M{1,4}|d{1,4}|HH?|hh?|mm?|ss?|fff|tt|zzz|K/g,
            (piece, quoted) => (quoted === undefined ? PIECES[piece](date) : quoted));
    };

    class DateTime {
        #date;
        constructor(...parts) {
            if (parts[0] === RAW) {
                if (!(parts[1] >= FIRST && parts[1] <= LAST)) {
                    throw new RangeError("DateTime out of range");
                }
                this.#date = new Date(parts[1]);
                return;
            }
            const [year = 1, month = 1, day = 1, ...time] = parts.map((part) => whole(part, "a part of a date"));
            const date = new Date(0);
            date.setUTCFullYear(year, month - 1, day);
            const [hour = 0, minute = 0, second = 0, millisecond = 0] = time;
            date.setUTCHours(hour, minute, second, millisecond);
            const read = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours()];
            if (year < 1 || year > 9999 || [year, month, day, hour].some((part, at) => part !== read[at])) {
                throw new RangeError("DateTime out of range");
            }
            this.#date = date;
        }
        static Parse(text) { return new this(RAW, milliseconds(text)); }
        static Compare(one, two) { return Math.sign(milliseconds(one) - milliseconds(two)); }
        static DaysInMonth(year, month) { return new Date(Date.UTC(year, month, 0)).getUTCDate(); }
        static IsLeapYear(year) { return DateTime.DaysInMonth(year, 2) === 29; }
        static get UtcNow() { return new this(RAW, native.now()); }
        static get Now() { return new this(RAW, native.now()); }
        static get Today() { return new DateTime(RAW, native.now()).Date; }
        static get MinValue() { return new this(RAW, FIRST); }
        static get MaxValue() { return new this(RAW, LAST); }
        static get UnixEpoch() { return new this(RAW, 0); }
        get ms() { return this.#date.getTime(); }
        get Year() { return this.#date.getUTCFullYear(); }
        get Month() { return this.#date.getUTCMonth() + 1; }
        get Day() { return this.#date.getUTCDate(); }
        get Hour() { return this.#date.getUTCHours(); }
        get Minute() { return this.#date.getUTCMinutes(); }
        get Second() { return this.#date.getUTCSeconds(); }
        get Millisecond() { return this.#date.getUTCMilliseconds(); }
        get DayOfWeek() { return WEEKDAYS[this.#date.getUTCDay()]; }
        get DayOfYear() { return Math.floor((this.ms - Date.UTC(this.Year, 0, 1)) / 864e5) + 1; }
        get Ticks() { return (this.ms - FIRST) * TICKS.Milliseconds; }
        get Date() { return this.#at(Math.floor(this.ms / 864e5) * 864e5); }
        get TimeOfDay() { return new TimeSpan((this.ms - this.Date.ms) * TICKS.Milliseconds); }
        get Kind() { return "Utc"; }
        #at(ms) { return new this.constructor(RAW, ms); }
        Add(span) { return this.#at(this.ms + TimeSpan.Parse(span).TotalMilliseconds); }
        AddMonths(months) {
            const first = new Date(Date.UTC(this.Year, this.Month - 1 + whole(months, "a number of months"), 1));
            const [year, month] = [first.getUTCFullYear(), first.getUTCMonth() + 1];
            const day = Math.min(this.Day, DateTime.DaysInMonth(year, month));
            return this.#at(first.getTime() + (day - 1) * 864e5 + this.ms - this.Date.ms);
        }
        AddYears(years) { return this.AddMonths(12 * whole(years, "a number of years")); }
        Subtract(other) {
            return other instanceof TimeSpan ? this.#at(this.ms - other.TotalMilliseconds)
                : new TimeSpan((this.ms - milliseconds(other)) * TICKS.Milliseconds);
        }
        Equals(other) { return DateTime.Compare(this, other) === 0; }
        CompareTo(other) { return DateTime.Compare(this, other); }
        ToUniversalTime() { return this; }
        ToLocalTime() { return this; }
        ToString(wanted) {
            return wanted === undefined || /^[oO]$/.test(wanted) ? this.toJSON() : format(this.#date, String(wanted));
        }
        toString() { return this.toJSON(); }
        toJSON() { return this.#date.toISOString(); }
    }
    for (const unit of ["Days", "Hours", "Minutes", "Seconds", "Milliseconds"]) {
        const add = function add(count) { return this.Add(TimeSpan[`From${unit}`](count)); };
        defineProperty(DateTime.prototype, `Add${unit}`, { value: add, configurable: true });
    }
    primitive(DateTime, "ms");

    class DateTimeOffset extends DateTime {
        static FromUnixTimeSeconds(seconds) { return new this(RAW, Number(seconds) * 1000); }
        static FromUnixTimeMilliseconds(count) { return new this(RAW, Number(count)); }
        get Offset() { return TimeSpan.Zero; }
        get DateTime() { return new DateTime(RAW, this.ms); }
        get UtcDateTime() { return new DateTime(RAW, this.ms); }
        ToUnixTimeSeconds() { return Math.floor(this.ms / 1000); }
        ToUnixTimeMilliseconds() { return this.ms; }
        toJSON() { return super.toJSON().replace("Z", "+00:00"); }
    }

    class Guid {
        static Empty = "00000000-0000-0000-0000-000000000000";
        constructor() {
            throw new TypeError("a GUID is text here: use Guid.Parse(text) or Guid.NewGuid()");
        }
        static NewGuid() { return native.newId(); }
        static Parse(text) { return native.parseId(String(text)); }
    }

    class Random {
        static get Shared() { return new Random(); }
        Next(one, two) {
            const [least, beyond] = two === undefined ? [0, one ?? 2147483647] : [one, two];
            return Number(least) + Math.floor(Math.random() * (Number(beyond) - Number(least)));
        }
        NextDouble() { return Math.random(); }
    }

    // What .NET has classes for, JavaScript has objects for.
    class JsonNode {
        static Parse(text) { return JSON.parse(String(text)); }
    }
    class JsonElement extends JsonNode {}
    class JsonObject extends JsonNode {
        constructor() {
            super();
            return {};
        }
    }
    class ExpandoObject {
        constructor() {
            return {};
        }
    }
    class Stream {
        constructor() {
            throw new TypeError("a stream is its bytes, or their Base64, here");
        }
    }
    class LogPersistenceMode {
        static Inherit = "Inherit";
        static Include = "Include";
        static Exclude = "Exclude";
    }

    const types = {
        TimeSpan, DateTime, DateTimeOffset, Guid, Random,
        JsonNode, JsonElement, JsonObject, ExpandoObject, Stream, LogPersistenceMode,
    };
    for (const type of Object.values(types)) {
        for (const owner of [type, type.prototype]) {
            for (const name of getOwnPropertyNames(owner)) {
                const camel = name[0].toLowerCase() + name.slice(1);
                if (camel !== name && !Object.hasOwn(owner, camel)) {
                    defineProperty(owner, camel, getOwnPropertyDescriptor(owner, name));
                }
            }
        }
    }
    return types;
}
