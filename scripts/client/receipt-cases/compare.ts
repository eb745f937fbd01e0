import {
  accept,
  type Call,
  executedBefore,
  getText,
  issue,
  type Parts,
  PAYMENT,
  refuse,
  type Rows,
  TEXT,
  withArguments,
} from './forge.js';

const OTHER_OPERATION = 'People approved another operation';

/** An object is given instead of the text: what denotes the same operation is accepted, however it is written. */
const compare = (call: Call): Call => ({ ...call, compare: true });

export async function compareRows({ receipt }: Parts): Promise<Rows> {
  const same = (text: string) => compare(accept(receipt, text));
  const others = (...texts: string[]) => texts.map((text) => compare(refuse(OTHER_OPERATION, receipt, text)));
  const noJson = (why: string, text: string) => compare(refuse(`The operation is no plain JSON: ${why}`, receipt, text));
  const approved = async (json: string): Promise<Call> => {
    const operation = withArguments(json);
    return compare(accept(await issue([operation]), JSON.stringify(operation)));
  };
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  return [
    ['compares an object: the operation as it was redeemed', same(TEXT)],
    ['compares an object: members in another order', same(JSON.stringify(PAYMENT))],
    ['compares an object: the same number, written otherwise', same(TEXT.replace('82000', '8.2e4'))],
    [
      'compares an object: minus zero',
      compare(accept(await issue([withArguments('{"a":0}')]), getText(PAYMENT).replace(/\{"cents.*?\}/, '{"a":-0}'))),
    ],
    // The examples of RFC 8785.
    ['compares an object: numbers', await approved('{"a":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]}')],
    [
      'compares an object: keys by UTF-16',
      await approved('{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7,"10":8,"9":9}'),
    ],
    ['compares an object: every kind of character', await approved('{"a":"\\u20ac$\\u000f\\nA\'\\u0042\\u0022\\u005c\\\\\\"/"}')],
    [
      'compares an object: __proto__ as a key like others',
      await approved('{"__proto__":{"cents":1},"constructor":[],"toJSON":"x"}'),
    ],
    ['compares an object: as deep as the service takes', await approved(`{"a":${nested(30)}}`)],
    [
      'compares an object: refuses another amount',
      ...others(TEXT.replace('82000', '820000'), TEXT.replace('82000', '82000.001')),
    ],
    ['compares an object: refuses a number as a text', ...others(TEXT.replace('82000', '"82000"'))],
    [
      'compares an object: refuses a member more',
      ...others(TEXT.replace('{', '{"summary":"x",'), TEXT.replace('"to"', '"memo":null,"to"')),
    ],
    [
      'compares an object: refuses __proto__',
      ...others(TEXT.replace('"to"', '"__proto__":{},"to"'), TEXT.replace('{', '{"__proto__":{},')),
    ],
    ['compares an object: refuses a member less', ...others(TEXT.replace(/,"target".*?(?=\})/, ''), '{}', '[]')],
    ['compares an object: refuses an accent as a character of its own (NFD)', ...others(TEXT.replace('ë', 'e\u0308'))],
    ['compares an object: refuses half a character', noJson('a text is no Unicode', TEXT.replace('ë', '\\ud800'))],
    ['compares an object: refuses half a character in a key', noJson('a text is no Unicode', TEXT.replace('"to"', '"\\udc00"'))],
    ['compares an object: refuses a number beyond all', noJson('a number is no JSON', TEXT.replace('82000', '1e400'))],
    ['compares an object: refuses more levels', noJson('it nests deeper than 32 levels', TEXT.replace('82000', nested(31)))],
    [
      'refuses a replay by the object',
      accept(receipt),
      compare({ ...executedBefore(receipt), operation_text: JSON.stringify(PAYMENT) }),
    ],
  ];
}
