import { createHmac, createPublicKey } from 'node:crypto';
import { canonicalJson } from '../../../api/gate/staging/canonical.js';
import { accept, encode, forge, getJwk, NOW, OURS, type Parts, refuse, type Rows, signText, STRANGER, TEXT } from './forge.js';

export function headerRows(parts: Parts): Rows {
  const header = (more: object, why = 'This is no receipt', key = OURS) => refuse(why, forge(parts, { header: more }, key));
  const jwk = getJwk(STRANGER);
  const [head, body] = parts.receipt.split('.');
  const mac = (start: string, key: string | Buffer) => `${start}.${createHmac('sha512', key).update(start).digest('base64url')}`;
  const hs256 = `${encode(JSON.stringify({ ...parts.header, alg: 'HS256' }))}.${body}`;
  const none = `${encode(JSON.stringify({ ...parts.header, alg: 'none' }))}.${body}.`;
  const pem = createPublicKey(OURS).export({ type: 'spki', format: 'pem' });
  const raw = Buffer.from(getJwk(OURS).x ?? '', 'base64url');
  const wrong = 'The signature is wrong';
  return [
    ['refuses alg none, unsigned and signed', refuse('The receipt is not in its compact form', none), header({ alg: 'none' })],
    ['refuses HS256', header({ alg: 'HS256' }), ...[pem, raw].map((key) => refuse('This is no receipt', mac(hs256, key)))],
    ['refuses an HMAC under the public key', ...[pem, raw].map((key) => refuse(wrong, mac(`${head}.${body}`, key)))],
    ['refuses another spelling of the algorithm', header({ alg: 'eddsa' }), header({ alg: ['EdDSA'] })],
    ['refuses what our key signed for another use', header({ typ: 'JWT' }), header({ typ: undefined })],
    ['refuses a critical extension', header({ crit: ['exp'] }), header({ crit: null })],
    ['refuses another key under the id of ours', header({}, wrong, STRANGER)],
    ['follows no key in the header', header({ jwk, jku: 'https://evil.example/jwks' }, wrong, STRANGER)],
    [
      'follows no key in the header, by its own id',
      header({ jwk, kid: jwk.kid }, 'The receipt is signed by another key', STRANGER),
    ],
    [
      'refuses an id that is no text',
      ...[undefined, null, [jwk.kid]].map((kid) => header({ kid }, 'The receipt is signed by another key')),
    ],
  ];
}

export function keyRows(parts: Parts): Rows {
  const { receipt } = parts;
  const ours = getJwk(OURS);
  const keys = (why: string, ...given: object[]) => refuse(why, receipt, TEXT, { jwks: { keys: given } });
  const another = 'The receipt is signed by another key';
  return [
    ['finds its key among others', accept(receipt, TEXT, { jwks: { keys: [getJwk(STRANGER), ours] } })],
    ['refuses without a key', keys(another)],
    ['refuses two keys of one id', keys(another, ours, getJwk(STRANGER, ours.kid)), keys(another, ours, ours)],
    ['refuses a key of another id', keys(another, { ...ours, kid: 'other' })],
    ['refuses a key of another kind', keys(another, { ...ours, kty: 'EC' }), keys(another, { ...ours, crv: 'X25519' })],
    [
      'finds no key without an id',
      refuse(another, forge(parts, { header: { kid: undefined } }), TEXT, { jwks: { keys: [{ ...ours, kid: undefined }] } }),
    ],
    ['refuses another key of that id', keys('The signature is wrong', getJwk(STRANGER, ours.kid))],
  ];
}

/** The same signature with its number raised by the order of the curve, which lenient verifiers take for another valid one. */
function addOrder(receipt: string): string {
  const at = receipt.lastIndexOf('.') + 1;
  const bytes = Buffer.from(receipt.slice(at), 'base64url');
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
  Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse().copy(bytes, 32);
  return receipt.slice(0, at) + encode(bytes);
}

const flipLastBit = (part: string): string => part.slice(0, -1) + String.fromCharCode(part.charCodeAt(part.length - 1) + 1);

export function spellingRows({ receipt, header, claims }: Parts): Rows {
  const [head = '', body = '', signature = ''] = receipt.split('.');
  const form = (...changed: string[]) => changed.map((each) => refuse('The receipt is not in its compact form', each));
  const json = (...changed: string[]) => changed.map((each) => refuse('The receipt holds no JSON', each));
  const text = JSON.stringify(header);
  const twice = text.replace('{', '{"alg":"none",');
  const bytes = Buffer.from(signature, 'base64url');
  const wrong = (...changed: string[]) => changed.map((each) => refuse('The signature is wrong', each));
  return [
    ['refuses padding', ...form(`${receipt}==`, `${head}=.${body}.${signature}`)],
    [
      'refuses blanks',
      ...form(`${receipt} `, ` ${receipt}`, `${receipt}\n`, receipt.replace('.', '\n.'), receipt.replace('.', '. ')),
    ],
    [
      'refuses a part more or less',
      ...form(`${receipt}.AA`, `${receipt}.x`, `${receipt}.`, `${head}.${body}`, `${head}.${body}.`, head, '', '..'),
    ],
    // The last digit of 64 bytes has four bits that nothing uses.
    ['refuses unused bits', ...form(`${head}.${body}.${flipLastBit(signature)}`)],
    ['refuses a digit too many', ...form(`${receipt}AAA`)],
    ['refuses the digits of base64', ...form(`${head}.${body}.+${signature.slice(1)}`, `${head}.${body}./${signature.slice(1)}`)],
    ['refuses digits of other scripts', ...form(`${head}.${body}.\u0661${signature.slice(1)}`)],
    ['refuses a signature that was cut', ...wrong(`${head}.${body}.${encode(bytes.subarray(0, 63))}`, `${head}.${body}.AA`)],
    ['refuses a longer signature', ...wrong(`${head}.${body}.${encode(Buffer.concat([bytes, Buffer.alloc(1)]))}`)],
    ['refuses a number beyond the order of the curve', ...wrong(addOrder(receipt))],
    ['refuses a signature of nothing', ...wrong(`${head}.${body}.${encode(Buffer.alloc(64))}`)],
    [
      'refuses other claims under the same signature',
      ...wrong(`${head}.${encode(canonicalJson({ ...claims, exp: NOW }))}.${signature}`),
    ],
    [
      'refuses a member twice',
      ...json(signText(twice, canonicalJson(claims)), signText(text, canonicalJson(claims).replace('{', '{"aud":"x",'))),
    ],
    [
      'refuses what is no object',
      ...json(...['null', '[]', '"x"', '7'].flatMap((each) => [signText(each, '{}'), signText(text, each)])),
    ],
    [
      'refuses what is no JSON',
      ...json(signText('{', '{}'), signText(text, '{'), signText('{"a":NaN}', '{}'), signText(`\ufeff${text}`, '{}')),
    ],
    ['refuses what is no UTF-8', ...json(signText(Buffer.from('{"a":"\xff"}', 'latin1'), '{}'))],
    ['refuses what is nested without an end', ...json(signText(`{"a":${'['.repeat(2_000)}`, '{}'))],
  ];
}
