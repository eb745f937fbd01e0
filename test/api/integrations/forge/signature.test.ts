import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { deliveryKey, sign, verifySignature } from '../../../../api/integrations/forge/deliveries/signature.js';

const secret = "It's a Secret to Everybody";
const body = Buffer.from('Hello, World!');
const hex = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
const header = `sha256=${hex}`;

/** The first is the forge's own documented example, the second RFC 4231 test case 2; the others come from OpenSSL. */
const vectors: [name: string, body: Buffer, secret: string, hex: string][] = [
  ['documented example', body, secret, hex],
  [
    'RFC 4231, case 2',
    Buffer.from('what do ya want for nothing?'),
    'Jefe',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  ['empty body', Buffer.alloc(0), secret, '66a0c074deaa0f489ead6537e0d32f9a344b90bbeda705b6ed45ecd3b413fb40'],
  [
    'bytes that are no UTF-8',
    Buffer.from([0xff, 0xfe, 0x00, 0x7b]),
    secret,
    '5c454f23f8e1e1c8fd7c2b912c7d2f5feb0960a11846d23bf60f56ba2b25a95f',
  ],
];

describe('a known vector', () => {
  it.each(vectors)('%s', (_name, bytes, key, digits) => {
    expect(sign(bytes, key)).toBe(`sha256=${digits}`);
    expect(verifySignature(bytes, `sha256=${digits}`, { current: key })).toBe(true);
    expect(verifySignature(bytes, `sha256=${digits.toUpperCase()}`, { current: key })).toBe(true);
  });
});

describe('a header that is no signature is refused, whatever the body', () => {
  it.each<[string, string | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['prefix only', 'sha256='],
    ['no prefix', hex],
    ['upper-case prefix', `SHA256=${hex}`],
    ['the older prefix', `sha1=${hex}`],
    ['prefix twice', `sha256=${header}`],
    ['space after the prefix', `sha256= ${hex}`],
    ['space before', ` ${header}`],
    ['space after', `${header} `],
    ['line end after', `${header}\n`],
    ['one digit short', header.slice(0, -1)],
    ['one digit long', `${header}0`],
    ['not hexadecimal at the end', `${header.slice(0, -1)}g`],
    ['not hexadecimal at the start', `sha256=zz${hex.slice(2)}`],
    ['full-width digit', `${header.slice(0, -1)}\uFF17`],
    ['two signatures in one header', `${header}, ${header}`],
    ['base64 of the right digest', `sha256=${Buffer.from(hex, 'hex').toString('base64')}`],
  ])('%s', (_name, value) => {
    expect(verifySignature(body, value, { current: secret })).toBe(false);
  });
});

describe('a signature that is not of these bytes or this secret is refused', () => {
  it('other body, by one byte', () => {
    expect(verifySignature(Buffer.from('Hello, World?'), header, { current: secret })).toBe(false);
    expect(verifySignature(Buffer.from('Hello, World!\n'), header, { current: secret })).toBe(false);
  });
  it('the same JSON in other bytes', () => {
    const signed = sign(Buffer.from('{"a":1}'), secret);
    expect(verifySignature(Buffer.from('{"a": 1}'), signed, { current: secret })).toBe(false);
  });
  it('other secret', () => {
    expect(verifySignature(body, header, { current: `${secret} ` })).toBe(false);
    expect(verifySignature(body, header, { current: 'another', previous: 'and another' })).toBe(false);
  });
  it('every single digit counts', () => {
    for (let index = 0; index < hex.length; index += 1) {
      const wrong = `${hex.slice(0, index)}${hex[index] === '0' ? '1' : '0'}${hex.slice(index + 1)}`;
      expect(verifySignature(body, `sha256=${wrong}`, { current: secret })).toBe(false);
    }
  });
});

describe('secrets', () => {
  it('while one is rotated, both count', () => {
    expect(verifySignature(body, header, { current: 'new', previous: secret })).toBe(true);
    expect(verifySignature(body, sign(body, 'new'), { current: 'new', previous: secret })).toBe(true);
  });
  it('fails closed without a current one, even for a signature made with the empty or the previous secret', () => {
    expect(verifySignature(body, header, {})).toBe(false);
    expect(verifySignature(body, sign(body, ''), {})).toBe(false);
    expect(verifySignature(body, sign(body, ''), { current: '' })).toBe(false);
    expect(verifySignature(body, header, { current: undefined, previous: secret })).toBe(false);
    expect(verifySignature(body, header, { current: '', previous: secret })).toBe(false);
  });
  it('an empty previous one signs nothing', () => {
    expect(verifySignature(body, sign(body, ''), { current: secret, previous: '' })).toBe(false);
  });
});

describe('properties', () => {
  const hexOfAnyLength = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'.split('')), minLength: 60, maxLength: 66 });
  it('verifies its own signatures', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ minLength: 1 }), (bytes, key) => {
        expect(verifySignature(Buffer.from(bytes), sign(Buffer.from(bytes), key), { current: key })).toBe(true);
      }),
    );
  });
  it('no other header verifies, and none throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          hexOfAnyLength.map((digits) => `sha256=${digits}`),
        ),
        (value) => {
          expect(verifySignature(body, value, { current: secret })).toBe(value.toLowerCase() === header);
        },
      ),
    );
  });
});

describe('delivery key', () => {
  const bodyHash = createHash('sha256').update(body).digest('hex');
  const key = (id: string | undefined, event = 'push', hash = bodyHash) => deliveryKey(id, event, hash);

  it.each(['72d3162e-cc78-11e3-81ab-4c9367dc0958', 'x', ' ~!"{}', 'a'.repeat(200), 'content', 'Hashed:1'])(
    'keeps %j as the forge sent it',
    (id) => {
      expect(key(id)).toBe(id.trim());
    },
  );

  it.each<[string, string | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['blank', '  \t'],
  ])('%s: hash of event and body', (_name, id) => {
    expect(key(id)).toMatch(/^content:[0-9a-f]{64}$/);
    expect(key(id)).toBe(key(undefined));
    expect(key(id, 'issues')).not.toBe(key(undefined));
    expect(key(id, 'push', createHash('sha256').update('other').digest('hex'))).not.toBe(key(undefined));
  });

  it.each([
    ['201 characters', 'a'.repeat(201)],
    ['5,000 characters', 'b'.repeat(5000)],
    ['letters outside ASCII', 'livraison-é'],
    ['control character', 'a\u0007b'],
    ['line end', 'a\nb'],
    ['NUL', 'a\u0000'],
    ['lone surrogate', 'a\uD800'],
    ['a key made here for a missing id', key(undefined)],
    ['a key made here for a long id', key('c'.repeat(300))],
  ])('%s: hashed', (_name, id) => {
    expect(key(id)).toMatch(/^hashed:[0-9a-f]{64}$/);
    expect(key(id)).toBe(key(id, 'issues', 'ff'));
    expect(key(id)).not.toBe(key(`${id}x`));
  });

  it('is at most 200 printable ASCII characters for any header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ unit: 'binary' }), (id, event) => {
        expect(key(id, event)).toMatch(/^[ -~]{1,200}$/);
      }),
    );
  });
});
