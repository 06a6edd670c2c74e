import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const matching = (pattern: RegExp) => Arbitrary.schema(Schema.String.check(Schema.isPattern(pattern)))

const digits = Arbitrary.map(
  Arbitrary.array(matching(/^(?:0|5|9|[0-9]{1,9})$/), { minLength: 1, maxLength: 8 }),
  (parts) => parts.join("")
)

/** The text of a JSON number: signs, zeros before and behind, up to 72 digits on each side, exponents out of range. */
export const decimalText: Arbitrary.Arbitrary<string> = Arbitrary.map(
  Arbitrary.all({
    sign: matching(/^-?$/),
    integer: digits,
    fraction: Arbitrary.array(digits, { maxLength: 1 }),
    exponent: Arbitrary.schema(
      Schema.Literals(["", "", "e0", "e5", "E+7", "e-3", "e22", "E308", "e-320", "e400", "e-999"])
    )
  }),
  ({ exponent, fraction, integer, sign }) =>
    `${sign}${integer.replace(/^0+(?=\d)/, "")}${fraction.length === 0 ? "" : `.${fraction[0]}`}${exponent}`
)

/** Text that looks much like JSON and mostly is not. */
export const almostJson: Arbitrary.Arbitrary<string> = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.schema(Schema.Literals([
      "{",
      "}",
      "[",
      "]",
      "\"",
      "\\",
      ",",
      ":",
      "1",
      "-",
      "e9",
      "0.5",
      "12345678901234567890",
      "null",
      "true",
      " ",
      "\"a\"",
      "\"jsonrpc\":\"2.0\"",
      "\"id\":1",
      "\"method\":\"m\"",
      "\u0000",
      "é"
    ])),
    { maxLength: 24 }
  ),
  (parts) => parts.join("")
)

/** Any string without a lone surrogate. */
export const wellFormed: Arbitrary.Arbitrary<string> = Arbitrary.filter(
  Arbitrary.map(
    Arbitrary.array(
      Arbitrary.all([
        Arbitrary.schema(Schema.String),
        Arbitrary.schema(
          Schema.Literals([
            "",
            " ",
            "\t",
            "\r\n",
            "=?base64?",
            "?=",
            "é",
            "世界",
            "🙂",
            "\u00a0",
            "\u007f",
            "\u0000",
            "\ufeff",
            "~",
            "%41"
          ])
        )
      ]),
      { maxLength: 4 }
    ),
    (pairs) => pairs.flat().join("")
  ),
  (text) => text.isWellFormed()
)
