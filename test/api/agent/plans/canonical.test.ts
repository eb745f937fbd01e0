import { planHash } from '../../../../api/agent/plans/plan-content.js';
import { canonicalJson, hashText } from '../../../../api/gate/staging/canonical.js';

describe('the canonical text (RFC 8785)', () => {
  it('sorts keys by UTF-16 code units, as the example of the RFC', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const order = [...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map(([, name]) => name);
    expect(order).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it('writes numbers, strings and literals as the sample of the RFC', () => {
    const sample = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(sample)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it.each([
    [0, '0'],
    [-0, '0'],
    [5e-324, '5e-324'],
    [-1.7976931348623157e308, '-1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [1e21, '1e+21'],
    [9.999999999999997e22, '9.999999999999997e+22'],
    [1424953923781206.25, '1424953923781206.2'],
  ])('writes the number %p as ECMAScript does', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it('leaves out absent values and keeps an own key `__proto__`', () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
  });

  it.each([[Number.NaN], [Infinity], ['\ud800'], [{ '\udc00': 1 }], [() => 1], [1n]])('rejects %p', (value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it('hashes with a prefix of its own', () => {
    // printf 'assent.plan.v1\n{}' | sha256sum
    expect(hashText(planHash('{}'))).toBe('sha256:f740919db4392aaaf05de5fa87e2d7372b054106e27c6ca5a74ded584736e7cf');
  });
});
