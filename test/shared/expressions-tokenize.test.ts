import { fc } from '../support/properties.ts';
import { describe, expect, test } from 'vitest';
import { hasExpression, parsePath, type TemplatePart, tokenize, type TokenizeOutcome } from '../../shared/src/index.ts';
import { slowness } from '../support/longest-turn.ts';

function partsOf(template: string): TemplatePart[] {
  const outcome = tokenize(template);
  if (!outcome.ok) throw new Error(`${outcome.message} (at ${outcome.at})`);
  return outcome.parts;
}

/**
 * How a text is written in a template. With `beforeExpression`, backslashes at its end would escape
 * what follows.
 */
function written(text: string, beforeExpression: boolean): string {
  const escaped = text.replaceAll(/(\\*)\{\{/g, '$1$1\\{{');
  return beforeExpression ? escaped.replace(/\\+$/, '$&$&') : escaped;
}

describe('tokenize', () => {
  test('text without braces is itself', () => {
    expect(partsOf('')).toEqual([]);
    expect(partsOf('a } b }} c { d \\ e')).toEqual([{ text: 'a } b }} c { d \\ e' }]);
  });

  test('an expression is found in its text, with where it begins', () => {
    expect(partsOf('Dear {{ steps.a.name }},{{env.X}}!')).toEqual([
      { text: 'Dear ' },
      { expression: ' steps.a.name ', at: 7 },
      { text: ',' },
      { expression: 'env.X', at: 26 },
      { text: '!' },
    ]);
  });

  test('the braces of JSON around an expression are text', () => {
    expect(partsOf('{"a":{{steps.x}}}')).toEqual([{ text: '{"a":' }, { expression: 'steps.x', at: 7 }, { text: '}' }]);
  });

  test.each([
    ['a string', `"}}" + '}}' + "\\"}}"`],
    ['a string that goes on in the next line', '"a\\\n}}\\\r\n}}"'],
    ['a template literal', '`}} ${ { a: `}}${ {b: "}}"}.b }` }.a } }}`'],
    ['an object', '{ a: { b: {} } }'],
    ['a function', 'steps.a.items.map((item) => { return { id: item.id } })'],
    ['a comment', '1 /* }} " ` */ + 2'],
    ['a comment at the end of a line', '1 // }} "\n + 2'],
    ['a regular expression', '/}}[/}}"]\\/"/.test("x")'],
    ['a regular expression behind a word', 'typeof /}}"/'],
    ['a regular expression behind an operator', 'a && !/"}}/g.test(b)'],
    ['a division', 'a / b / c + (a) / 2 + a[0] / "}}" / a++ / 2 + {a:1}.a / 2 + x.in / "}}"'],
    ['one division', 'a / 2 + "}}"'],
    ['one division behind brackets', '(a) / 2 + "}}"'],
    ['one division behind an index', 'a[0] /2 + "}}"'],
    ['one division behind a text', '"a"/2 + "}}"'],
    ['one division behind an object', '{ a: 1 } / 2 + "}}"'],
    ['one division behind what is counted up', 'a++ / 2 + "}}"'],
    ['one division behind a comment', 'a /* b */ / 2 + "}}"'],
    ['one division behind a property named as an operator', 'a.in / 2 + "}}"'],
    ['a division behind a template literal', '`${1}` / "}}" / 2'],
    ['a name of other letters', 'größe / "}}" / größe'],
  ])('the end of an expression is not in %s', (_, expression) => {
    expect(partsOf(`a{{${expression}}}b{{c}}`)).toEqual([
      { text: 'a' },
      { expression, at: 3 },
      { text: 'b' },
      { expression: 'c', at: expression.length + 8 },
    ]);
  });

  test('an escaped {{ begins nothing, and a doubled backslash is one before an expression', () => {
    expect(partsOf('\\{{a}} {{b}}')).toEqual([{ text: '{{a}} ' }, { expression: 'b', at: 9 }]);
    expect(partsOf('C:\\\\{{b}}')).toEqual([{ text: 'C:\\' }, { expression: 'b', at: 6 }]);
    expect(partsOf('\\\\\\{{b}}')).toEqual([{ text: '\\{{b}}' }]);
    expect(partsOf('\\n \\{ {{b}}')).toEqual([{ text: '\\n \\{ ' }, { expression: 'b', at: 8 }]);
  });

  test.each([
    ['Dear {{ steps.a', 7, 'has no }} at its end'],
    ['{{ { a: 1 }', 2, 'has no }} at its end'],
    ['{{ "abc }}', 3, 'The text that begins here has no " at its end'],
    ["{{ 'abc\n' }}", 3, "has no ' at its end"],
    ['{{ `abc ${ 1 } }}', 13, 'has no ` at its end'],
    ['{{ a /* }}', 5, 'has no */ at its end'],
    ['{{ a // }}', 5, 'goes on to the end of its line'],
    ['{{ /a }}', 3, 'regular expression'],
    ['a {{  }}', 4, 'There is no expression'],
    ['{{}}', 2, 'There is no expression'],
  ])('%j has an error with its place', (template, at, message) => {
    expect(tokenize(template)).toEqual({ ok: false, at, message: expect.stringContaining(message) });
  });

  test('any template is read back', () => {
    const text = fc.string({ unit: fc.constantFrom('{', '}', '\\', 'a', '"', '`', '\n', 'é') });
    const expression = fc.constantFrom('a', ' steps.x["}}"] ', '{ a: { b: 1 } }', '`}}${ {a: "}}"}.a }`', 'x / 2 / y');
    fc.assert(
      fc.property(fc.array(fc.tuple(text, expression)), text, (pairs, last) => {
        const expected: TemplatePart[] = [];
        let template = '';
        for (const [before, source] of pairs) {
          // A brace right before an expression is the beginning of it.
          const own = before.replace(/\{+$/, '');
          template += `${written(own, true)}{{`;
          if (own !== '') expected.push({ text: own });
          expected.push({ expression: source, at: template.length });
          template += `${source}}}`;
        }
        template += written(last, false);
        if (last !== '') expected.push({ text: last });
        expect(partsOf(template)).toEqual(expected);
      }),
    );
  });

  test('any text is answered, and its unknown part lies within it', () => {
    const unit = fc.constantFrom(
      '{',
      '}',
      '{{',
      '}}',
      '\\',
      '"',
      "'",
      '`',
      '${',
      '/',
      '*',
      '[',
      ']',
      '\n',
      'a',
      ' ',
      '+',
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), (pieces) => {
        const template = pieces.join('');
        expect(tokenize(template)).toSatisfy((outcome: TokenizeOutcome) =>
          outcome.ok
            ? outcome.parts.every(
                (part) => 'text' in part || template.startsWith(`{{${part.expression}}}`, part.at - 2),
              )
            : outcome.at <= template.length,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test('a long text takes no longer than its length', () => {
    for (const piece of ['\\', '{', '{{', '\\{{', '{{a}}', '`${', '{{/']) {
      const began = process.threadCpuUsage();
      tokenize(piece.repeat(64 * 1024));
      expect(process.threadCpuUsage(began).user / 1_000 / slowness()).toBeLessThan(1_000);
    }
  });
});

describe('hasExpression', () => {
  test('strings at any depth count, names do not', () => {
    expect(hasExpression('a {{b}}')).toBe(true);
    expect(hasExpression([{ a: [1, null, { b: '\\{{' }] }])).toBe(true);
    expect(hasExpression({ '{{a}}': ['{', '}}', 1, true, null, undefined] })).toBe(false);
  });

  test('data of any depth is answered', () => {
    let deep: unknown = '{{a}}';
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(hasExpression(deep)).toBe(true);
  });
});

describe('parsePath', () => {
  test('a path is taken apart', () => {
    expect(parsePath(' steps.foo . $return_value[0]?.["user id"] ?.[\'x\']?.y ')).toEqual({
      root: 'steps',
      parts: [
        { key: 'foo', isOptional: false, text: '.foo' },
        { key: '$return_value', isOptional: false, text: '.$return_value' },
        { key: '0', isOptional: false, text: '[0]' },
        { key: 'user id', isOptional: true, text: '["user id"]' },
        { key: 'x', isOptional: true, text: '["x"]' },
        { key: 'y', isOptional: true, text: '.y' },
      ],
    });
    expect(parsePath('env')).toEqual({ root: 'env', parts: [] });
  });

  test.each([
    'steps.a + 1',
    'steps.a()',
    'steps[a]',
    'steps["a\\n"]',
    'steps.',
    'steps.a.#b',
    '"a"',
    '1.a',
    'steps[01]',
    'steps.a /* */',
    '',
    '{}',
    'a?b:c',
    'steps[-1]',
  ])('%j is none', (expression) => {
    expect(parsePath(expression)).toBeUndefined();
  });
});
