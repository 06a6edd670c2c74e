import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { UriTemplate } from "@fairlead/protocol"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { failure, success } from "./support/results.ts"

const make = (template: string) => success(UriTemplate.make(template))
const expand = (template: string, values: UriTemplate.Values) => UriTemplate.expand(make(template), values)
const match = (template: string, uri: string) => UriTemplate.match(make(template), uri)
const reasonOf = (template: string) => failure(UriTemplate.make(template)).reason

/** The values of the examples of RFC 6570, section 3.2. */
const rfc: UriTemplate.Values = {
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  who: "fred",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  v: "6",
  x: "1024",
  y: "768",
  empty: "",
  empty_keys: []
}

describe("expansion", () => {
  const examples: ReadonlyArray<readonly [string, string]> = [
    // 3.2.2: simple
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["{half}", "50%25"],
    ["O{empty}X", "OX"],
    ["O{undef}X", "OX"],
    ["{x,y}", "1024,768"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["?{x,empty}", "?1024,"],
    ["?{x,undef}", "?1024"],
    ["?{undef,y}", "?768"],
    ["{list}", "red,green,blue"],
    // 3.2.3: reserved
    ["{+var}", "value"],
    ["{+hello}", "Hello%20World!"],
    ["{+half}", "50%25"],
    ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
    ["{+base}index", "http://example.com/home/index"],
    ["O{+empty}X", "OX"],
    ["O{+undef}X", "OX"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["{+list}", "red,green,blue"],
    // 3.2.4: fragment
    ["{#var}", "#value"],
    ["{#hello}", "#Hello%20World!"],
    ["{#half}", "#50%25"],
    ["foo{#empty}", "foo#"],
    ["foo{#undef}", "foo"],
    ["{#path}", "#/foo/bar"],
    // 3.2.5: labels
    ["{.who}", ".fred"],
    ["{.half}", ".50%25"],
    ["X{.var}", "X.value"],
    ["X{.empty}", "X."],
    ["X{.undef}", "X"],
    ["X{.x,y}", "X.1024.768"],
    ["X{.empty_keys}", "X"],
    // 3.2.6: segments
    ["{/who}", "/fred"],
    ["{/half,who}", "/50%25/fred"],
    ["{/who,dub}", "/fred/me%2Ftoo"],
    ["{/var}", "/value"],
    ["{/var,empty}", "/value/"],
    ["{/var,undef}", "/value"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{/list*}", "/red/green/blue"],
    ["{/empty_keys*}", ""],
    // 3.2.7: parameters of segments
    ["{;who}", ";who=fred"],
    ["{;half}", ";half=50%25"],
    ["{;empty}", ";empty"],
    ["{;v,empty,who}", ";v=6;empty;who=fred"],
    ["{;v,undef,who}", ";v=6;who=fred"],
    ["{;x,y}", ";x=1024;y=768"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{;x,y,undef}", ";x=1024;y=768"],
    // 3.2.8 and 3.2.9: queries
    ["{?who}", "?who=fred"],
    ["{?half}", "?half=50%25"],
    ["{?x,y}", "?x=1024&y=768"],
    ["{?x,y,empty}", "?x=1024&y=768&empty="],
    ["{?x,y,undef}", "?x=1024&y=768"],
    ["{&who}", "&who=fred"],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{?undef}{&x}", "&x=1024"]
  ]

  it.each(examples)(verifies("RES-3")("of %s is %s, as RFC 6570 has it"), (template, expected) => {
    assert.strictEqual(expand(`t:${template}`, rfc), `t:${expected}`)
  })

  it("encodes what is beyond ASCII as UTF-8, in values and in the text of the template", () => {
    assert.strictEqual(expand("t:é/{x}", { x: "ü€😀" }), "t:%C3%A9/%C3%BC%E2%82%AC%F0%9F%98%80")
    assert.strictEqual(expand("t:{x}/{+y}", { x: "\ud800", y: "\ud800" }), "t:%EF%BF%BD/%EF%BF%BD")
  })

  it("keeps what is percent-encoded already for reserved expansion alone", () => {
    assert.strictEqual(expand("t:{x}/{+y}", { x: "%41", y: "%41%4" }), "t:%2541/%41%254")
    // Also beside characters that are encoded.
    assert.strictEqual(expand("t:{+x}", { x: "é%41 %  " }), "t:%C3%A9%41%20%25%20%20")
  })

  it("takes nothing from the prototype of the values", () => {
    assert.strictEqual(expand("t:x{/constructor,toString}", {}), "t:x")
    assert.deepStrictEqual(match("t:{__proto__}", "t:a"), { ["__proto__"]: "a" })
  })
})

describe("a match", () => {
  it("of what was expanded gives the values back", () => {
    // Without the characters that end the expression, for those that are not encoded.
    const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter((value) => value.isWellFormed())
    // What reserved expansion takes for encoded comes back decoded.
    const unencoded = text.filter((value) => !/%[0-9A-Fa-f]{2}/.test(value))
    const plain = fc.stringMatching(/^[a-zA-Z0-9~_é€ /?#%&=+;,]{1,12}$/)
    const optional = (arbitrary: fc.Arbitrary<string>) => fc.option(arbitrary, { nil: undefined })
    const templates: ReadonlyArray<readonly [string, fc.Arbitrary<Record<string, unknown>>]> = [
      ["docs://{a}", fc.record({ a: text })],
      ["docs://{a}/{b}", fc.record({ a: text, b: text })],
      ["docs://{a,b}/x", fc.record({ a: text, b: text })],
      ["docs://{a}.png", fc.record({ a: text })],
      ["docs://{a}{.b}", fc.record({ a: plain, b: optional(text) })],
      ["docs://{a}{;b,c}", fc.record({ a: text, b: optional(text), c: optional(text) })],
      ["docs://{a}{;b}{;c}", fc.record({ a: text, b: optional(text), c: optional(text) })],
      ["docs://x{/a}{?b}", fc.record({ a: optional(text), b: optional(fc.string()) })],
      ["docs://x{/a}{/b}", fc.record({ a: text, b: optional(text) })],
      ["docs://x{.a}{.b}", fc.record({ a: plain, b: optional(plain) })],
      ["docs://x{.a}{/b}", fc.record({ a: optional(plain), b: optional(text) })],
      ["docs://x{.a}{;b}", fc.record({ a: optional(plain), b: optional(text) })],
      ["docs://x{/a*}/end", fc.record({ a: fc.array(text, { minLength: 1 }) })],
      ["docs://x{?a,b}", fc.record({ a: optional(text), b: optional(text) })],
      ["docs://x{?a,b}{&c}", fc.record({ a: optional(text), b: optional(text), c: optional(text) })],
      ["docs://x?v=1{&a}{&b}{#c}", fc.record({ a: optional(text), b: optional(text), c: optional(unencoded) })],
      [
        "docs://{+a}",
        fc.record({ a: fc.webPath({ size: "small" }).filter((path) => path !== "" && !path.includes("%")) })
      ],
      ["docs://x{#a}", fc.record({ a: optional(fc.stringMatching(/^[a-z é/?]{1,9}$/)) })]
    ]
    for (const [template, arbitrary] of templates) {
      fc.assert(
        fc.property(arbitrary, (drawn) => {
          const values = Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined))
          assert.deepStrictEqual(match(template, expand(template, values as UriTemplate.Values)), values)
        }),
        { numRuns: 60 }
      )
    }
  })

  it("is found for whatever a template expands to, with values that expand to the same", () => {
    const operators = ["", "+", "#", ".", "/", "/*", ";", "?", "&"] as const
    const piece = fc.oneof(
      fc.constantFrom("/", "-", ".x", "/mid/", ";a", "~"),
      fc.constantFrom(...operators)
    )
    const value = fc.stringMatching(/^[ab./~;-]{1,6}$/)
    const isOperator = (text: string): text is (typeof operators)[number] => operators.includes(text as never)
    let tried = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), piece), { minLength: 1, maxLength: 6 }),
        fc.array(fc.option(value, { nil: undefined, freq: 4 }), { minLength: 6, maxLength: 6 }),
        (pieces, drawn) => {
          const values: Record<string, string | ReadonlyArray<string>> = {}
          const source = pieces.map(([isExpression, text], i) => {
            if (!isExpression || !isOperator(text)) return isOperator(text) ? "-" : text
            // A label has no dot.
            const value = text === "." ? drawn[i]?.replaceAll(".", "~") : drawn[i]
            const isRequired = text === "" || text === "+"
            if (value !== undefined || isRequired) {
              values[`v${i}`] = text === "/*" ? [value!, "b"] : value ?? "a"
            }
            return text === "/*" ? `{/v${i}*}` : `{${text}v${i}}`
          }).join("")
          const made = UriTemplate.make(`t:x${source}`)
          if (Result.isFailure(made)) return
          tried++
          const uri = UriTemplate.expand(made.success, values)
          const found = UriTemplate.match(made.success, uri)
          assert.isDefined(found, `${made.success.source} ${uri}`)
          // An empty parameter is written without its sign.
          if (made.success.source.includes("{;")) return
          // Where it is divided in another place, what divided it is now part of a value.
          assert.strictEqual(decodeURIComponent(UriTemplate.expand(made.success, found!)), decodeURIComponent(uri))
        }
      ),
      { numRuns: 2000 }
    )
    assert.isAbove(tried, 300)
  })

  it("tries later places, within a bound", () => {
    const template = "t:{+a}/mid/{b}"
    const uri = (count: number) => `t:${"x/mid/".repeat(count)}y`
    assert.deepStrictEqual(match(template, uri(100)), { a: `${"x/mid/".repeat(99)}x`, b: "y" })
    assert.isUndefined(match(template, uri(200)))
  })

  const matches: ReadonlyArray<readonly [string, string, UriTemplate.Values | undefined]> = [
    // Later places.
    ["docs://{+a}/mid/{b}", "docs://p/mid/q/mid/z", { a: "p/mid/q", b: "z" }],
    ["docs://{+a}{/b}", "docs://p/q/r", { a: "p/q", b: "r" }],
    ["docs://{+a}/{b}-{c}", "docs://p/q/r-s", { a: "p/q", b: "r", c: "s" }],
    ["docs:x{/a}{.b}/y", "docs:x/y", {}],
    ["docs:x{/a}{.b}/y", "docs:x/z.w/y", { a: "z", b: "w" }],
    // Simple expressions are of one segment.
    ["docs://{a}", "docs://x", { a: "x" }],
    ["docs://{a}", "docs://x,y;z=1", { a: "x,y;z=1" }],
    ["docs://{a}", "docs://", undefined],
    ["docs://{a}", "docs://x/", undefined],
    ["docs://{a}", "docs://x/y", undefined],
    ["docs://{a}", "docs://x?y", undefined],
    ["docs://{a}", "docs://x#y", undefined],
    ["docs://{a,b}", "docs://x,y", { a: "x", b: "y" }],
    ["docs://{a,b}", "docs://x", undefined],
    ["docs://{a,b}", "docs://x,y,z", undefined],
    ["docs://{a}-{b}", "docs://x-y-z", { a: "x", b: "y-z" }],
    ["docs://{a}.png", "docs://x.png.png", { a: "x.png" }],
    ["docs://{a}.png", "docs://.png", undefined],
    ["docs://{a}/end", "docs://x/y/end", undefined],
    // Reserved ones go over segments.
    ["docs://{+a}", "docs://x/y?z#w", { a: "x/y?z#w" }],
    ["docs://{+a}/end", "docs://x/end/end", { a: "x/end" }],
    ["docs://{+a}/mid/{b}", "docs://x/y/mid/z", { a: "x/y", b: "z" }],
    ["docs://{+a}{?q}", "docs://x/y?q=1", { a: "x/y", q: "1" }],
    ["docs://{+a}", "docs://", undefined],
    // Segments.
    ["docs:/{/a*}", "docs:/", {}],
    ["docs:/{/a*}", "docs://x", { a: ["x"] }],
    ["docs:/{/a*}", "docs://x/y%2Fz", { a: ["x", "y/z"] }],
    ["docs:/{/a*}", "docs://x?y", undefined],
    ["docs:/{/a*}/end", "docs://x/end", { a: ["x"] }],
    ["docs:/{/a,b}", "docs://x", { a: "x" }],
    ["docs:/{/a,b}", "docs://x/y/z", undefined],
    ["docs:/{/a}", "docs:///", undefined],
    // Labels and parameters.
    ["docs:x{.a}", "docs:x.tar.gz", { a: "tar.gz" }],
    ["docs:x{.a,b}", "docs:x.tar.gz", { a: "tar", b: "gz" }],
    ["docs:x{.a}", "docs:x", {}],
    ["docs:x{.a}", "docs:x.", undefined],
    ["docs:x{;a,b}", "docs:x;b=1;a", { a: "", b: "1" }],
    ["docs:x{;a}", "docs:x;a=1+1", { a: "1+1" }],
    ["docs:x{;a}", "docs:x;c=1", undefined],
    // Queries, in any order.
    ["docs:x{?a,b}", "docs:x", {}],
    ["docs:x{?a,b}", "docs:x?b=2&a=1", { a: "1", b: "2" }],
    ["docs:x{?a,b}", "docs:x?a", { a: "" }],
    ["docs:x{?a,b}", "docs:x?a=1+1%2B1", { a: "1 1+1" }],
    ["docs:x{?a,b}", "docs:x?a=b=c", { a: "b=c" }],
    ["docs:x{?a,b}", "docs:x?%61=1", { a: "1" }],
    ["docs:x{?a,b}", "docs:x?a=1&a=2", undefined],
    ["docs:x{?a,b}", "docs:x?a=1&c=3", undefined],
    ["docs:x{?a,b}", "docs:x?a=1&&b=2", undefined],
    ["docs:x{?a,b}", "docs:x?", undefined],
    ["docs:x{?a,b}", "docs:x&a=1", undefined],
    ["docs:x{?a,b}{&c}", "docs:x?c=3&b=2", { b: "2", c: "3" }],
    ["docs:x{?a,b}{&c}", "docs:x?c=3&c=3", undefined],
    ["docs:x{?a}{#f}", "docs:x?a=1#top", { a: "1", f: "top" }],
    ["docs:x?v=1{&a}", "docs:x?v=1&a=2", { a: "2" }],
    ["docs:x?v=1{&a}", "docs:x?a=2&v=1", undefined],
    // The scheme alone is compared without regard to case.
    ["Docs://A/{a}", "dOCS://A/x", { a: "x" }],
    ["docs://A/{a}", "docs://a/x", undefined]
  ]

  it.each(matches)(verifies("RES-3", "RES-10")("of %s with %s gives %o"), (template, uri, expected) => {
    assert.deepStrictEqual(match(template, uri), expected)
  })

  it(verifies("RES-10")("decodes percent-encoding once, and as UTF-8 alone"), () => {
    assert.deepStrictEqual(match("t:{a}", "t:%2541"), { a: "%41" })
    assert.deepStrictEqual(match("t:{a}", "t:%e2%82%ac"), { a: "€" })
    assert.deepStrictEqual(match("t:{a}", "t:%2F..%2F"), { a: "/../" })
    for (const broken of ["%", "%4", "%zz", "%ff", "%C3", "%C3%28", "%ED%A0%80", "%C0%AF", "x%"]) {
      for (const template of ["t:{a}", "t:{+a}", "t:{a,b}", "t:x{;a}", "t:x{?a}", "t:{/a*}", "t:{.a}", "t:{#a}"]) {
        const { parts } = make(template)
        const last = parts.at(-1)!
        const operator = last._tag === "Expression" ? last.operator : ""
        const prefix = template.slice(0, template.indexOf("{")) + (operator === "+" ? "" : operator)
        const name = operator === ";" || operator === "?" ? "a=" : template === "t:{a,b}" ? "y," : ""
        assert.isUndefined(match(template, prefix + name + broken), template)
        assert.isDefined(match(template, `${prefix}${name}x`), template)
      }
    }
  })

  it("knows text beyond ASCII, and hex digits of either case, in the text of the template too", () => {
    for (const uri of ["t:é/x", "t:%C3%A9/x", "t:%c3%a9/x"]) {
      assert.deepStrictEqual(match("t:é/{a}", uri), { a: "x" }, uri)
      assert.deepStrictEqual(match("t:%c3%A9/{a}", uri), { a: "x" }, uri)
    }
    assert.deepStrictEqual(match("t:{a}", "t:é€😀"), { a: "é€😀" })
  })

  it(verifies("RES-10")("is none for a text with what no URI has"), () => {
    for (
      const char of [
        "{",
        "}",
        "<",
        ">",
        "\"",
        "\\",
        "^",
        "`",
        "|",
        " ",
        "\t",
        "\n",
        "\r",
        "\u0000",
        "\u001f",
        "\u007f",
        "\u2028"
      ]
    ) {
      assert.isUndefined(match("t:{+a}", `t:x${char}y`))
    }
  })

  it("is none for a URI that is longer than the limit", () => {
    const { maxUriLength } = UriTemplate
    assert.isDefined(match("t:{a}", `t:${"x".repeat(maxUriLength - 2)}`))
    assert.isUndefined(match("t:{a}", `t:${"x".repeat(maxUriLength - 1)}`))
  })

  it(verifies("RES-10")("does work that grows with the URI, not with its square"), () => {
    const hostile: ReadonlyArray<readonly [string, (n: number) => string]> = [
      ["t:{a}-{b}-{c}-{d}.x", (n) => `t:${"-".repeat(n)}`],
      ["t:{+a}/x/{+b}/x/{+c}/y", (n) => `t:${"/x".repeat(n / 2)}`],
      ["t:{+a}/x/{b}/{c}/{d}", (n) => `t:${"/x".repeat(n / 2)}`],
      ["t:{+a}x{+b}x{+c}x{d}", (n) => `t:${"x".repeat(n - 1)}/`],
      ["t:{/a*}/end", (n) => `t:${"/".repeat(n)}`],
      ["t:x{?a,b,c}", (n) => `t:x?${"a=1&".repeat(n / 4)}`],
      ["t:x{;a,b}", (n) => `t:x${";a".repeat(n / 2)}`],
      ["t:{+a}{?q}", (n) => `t:${"%41".repeat(n / 3)}`],
      ["t:{a}", (n) => `t:${"%".repeat(n)}`]
    ]
    // What is read of the texts, counted by the methods that read them, each as long as what it is called on.
    const work = (template: string, uri: string): number => {
      const parsed = make(template)
      let count = 0
      const restore = ["slice", "indexOf", "startsWith", "endsWith", "split", "search", "replace", "replaceAll"].map(
        (name) => {
          const prototype = String.prototype as unknown as Record<string, (...args: Array<unknown>) => unknown>
          const own = prototype[name]!
          prototype[name] = function(this: string, ...args) {
            count += this.length
            return own.apply(this, args)
          }
          return () => {
            prototype[name] = own
          }
        }
      )
      try {
        UriTemplate.match(parsed, uri)
      } finally {
        for (const undo of restore) undo()
      }
      return count
    }
    for (const [template, uri] of hostile) {
      const [small, large] = [work(template, uri(1200)), work(template, uri(3840))]
      assert.isAbove(small, 0)
      assert.isBelow(large / small, 4, template)
    }
  })
})

describe("a template", () => {
  const refused: ReadonlyArray<readonly [string, RegExp]> = [
    ["docs", /scheme/],
    ["{scheme}://x", /scheme/],
    ["://x", /scheme/],
    ["docs://a b", /spaces/],
    ["docs://a\u0000", /control/],
    ["docs://{a", /brace/],
    ["docs://a}", /brace/],
    ["docs://{{a}}", /brace/],
    ["docs://<a>", /</],
    ["docs://a\"b", /percent-encoded/],
    ["docs://100%", /%, which has to be percent-encoded/],
    ["docs://{}", /^\{\} has no valid variable name/],
    ["docs://{a-b}", /^\{a-b\} has no valid variable name/],
    ["docs://{a,}", /^\{a,\} has no valid variable name/],
    ["docs://{=a}", /^\{=a\}/],
    ["docs://{!a}", /^\{!a\}/],
    ["docs://{@a}", /^\{@a\}/],
    ["docs://{|a}", /^\{\|a\}/],
    ["docs://{,a}", /^\{,a\}/],
    ["docs://{a:3}", /^\{a:3\} has a prefix/],
    ["docs://{a*}", /^\{a\*\} explodes/],
    ["docs://{+a*}", /^\{\+a\*\} explodes/],
    ["docs://x{?a*}", /^\{\?a\*\} explodes/],
    ["docs://x{;a*}", /^\{;a\*\} explodes/],
    ["docs://x{.a*}", /^\{\.a\*\} explodes/],
    ["docs://{+a,b}", /^\{\+a,b\} has several variables/],
    ["docs://x{#a,b}", /^\{#a,b\} has several variables/],
    ["docs://x{/a*,b}", /^\{\/a\*,b\} has several variables/],
    ["docs://{a}{b}", /^\{b\} follows another expression/],
    ["docs://{a}{+b}", /^\{\+b\} follows another expression/],
    ["docs://x{/a*}{/b}", /^\{\/b\} follows another expression/],
    ["docs://x{/a}{/b*}", /^\{\/b\*\} follows another expression/],
    ["docs://{a}{/b*}", /^\{\/b\*\} follows another expression/],
    ["docs://x{#a}{?b}", /^\{\?b\} follows another expression/],
    ["docs://{a}/{a}", /the variable a stands twice/],
    ["docs://{a,a}", /the variable a stands twice/],
    ["docs://x{?a}y", /text follows the query expression \{\?a\}/],
    ["docs://x{?a}{?b}", /text follows the query expression \{\?a\}/],
    ["docs://x{&a}{/b}", /text follows the query expression \{&a\}/],
    [`docs://${Array.from({ length: 33 }, (_, i) => `{v${i}}`).join("/")}`, /more than 32 variables/]
  ]

  it.each(refused)(verifies("RES-3")("like %j is refused by name"), (template, reason) => {
    const error = failure(UriTemplate.make(template))
    assert.match(error.reason, reason)
    assert.strictEqual(
      error.message,
      `The URI template ${JSON.stringify(template)} cannot be used: ${error.reason}`
    )
  })

  it("has its variables in order, pct-encoded and dotted names too", () => {
    assert.deepStrictEqual(make("docs://{b}/{a.x}{?_c,%41,d}").variables, ["b", "a.x", "_c", "%41", "d"])
    assert.deepStrictEqual(match("docs:x{?%41}", "docs:x?%41=1"), { "%41": "1" })
    assert.deepStrictEqual(make("docs://x").variables, [])
    assert.strictEqual(reasonOf("docs://{a.}"), "{a.} has no valid variable name")
  })

  it("has the shape of another that matches the same URIs, whatever its variables are called", () => {
    const same: ReadonlyArray<readonly [string, string]> = [
      ["docs://{a}", "docs://{b}"],
      ["docs://{a}", "DOCS://{b}"],
      ["docs:x{/a}{/b}", "docs:x{/c,d}"],
      ["docs:x{?a,b}", "docs:x{?b,a}"],
      ["docs:é/{a}", "docs:%c3%a9/{a}"]
    ]
    const other: ReadonlyArray<readonly [string, string]> = [
      ["docs://{a}", "docs://{+a}"],
      ["docs://A/{a}", "docs://a/{a}"],
      ["docs:x{?a}", "docs:x{?b}"],
      ["docs:x{;a}", "docs:x{;b}"],
      ["docs:x{/a}", "docs:x{/a*}"],
      ["docs://{a}", "docs://{a,b}"]
    ]
    for (const [a, b] of same) assert.strictEqual(make(a).shape, make(b).shape)
    for (const [a, b] of other) assert.notStrictEqual(make(a).shape, make(b).shape)
  })

  it("is tried before those that say less", () => {
    const sorted = [
      "docs://{+a}",
      "docs://pages/{a}",
      "docs://{a}",
      "docs:/{/a*}",
      "docs://{b}",
      "docs://pages/{+a}",
      "docs://pages/all/{a}"
    ].map(make).sort(UriTemplate.Specificity).map(({ source }) => source)
    assert.deepStrictEqual(sorted, [
      "docs://pages/all/{a}",
      "docs://pages/{a}",
      "docs://pages/{+a}",
      "docs://{a}",
      "docs://{b}",
      "docs://{+a}",
      "docs:/{/a*}"
    ])
    const [same] = [make("docs://{a}")]
    assert.strictEqual(UriTemplate.Specificity(same!, same!), 0)
  })
})
