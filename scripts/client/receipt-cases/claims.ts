import { canonicalJson } from '../../../api/gate/staging/canonical.js';
import type { Operation } from '../../../api/gate/staging/operation.js';
import {
  accept,
  decode,
  DEPLOY,
  executedBefore,
  forge,
  getText,
  ISSUER,
  issue,
  MAX,
  NOW,
  OTHER_TEAM,
  type Parts,
  PAYMENT,
  refuse,
  type Rows,
  signText,
  TEAM,
  TEXT,
  UMA,
  withArguments,
} from './forge.js';

const OTHER_OPERATION = 'People approved another operation';
export function operationRows({ receipt }: Parts): Rows {
  const changes: [string, Operation][] = [
    ['another amount', withArguments('{"cents":820000,"to":"Zoë"}')],
    ['a number as a text', withArguments('{"cents":"82000","to":"Zoë"}')],
    ['an argument more', withArguments('{"cents":82000,"to":"Zoë","memo":"x"}')],
    ['an argument more that is null', withArguments('{"cents":82000,"to":"Zoë","memo":null}')],
    ['an argument less', withArguments('{"cents":82000}')],
    ['a zero-width joiner', withArguments('{"cents":82000,"to":"Zo\u200dë"}')],
    ['an accent as a character of its own (NFD)', withArguments('{"cents":82000,"to":"Zoe\u0308"}')],
    ['a key __proto__', withArguments('{"cents":82000,"to":"Zoë","__proto__":{}}')],
    ['another target', { ...PAYMENT, target: 'order-8' }],
    ['no target', { ...PAYMENT, target: null }],
    ['another name', { ...PAYMENT, name: 'refund_all' }],
    ['another system', { ...PAYMENT, system: 'payroll' }],
    ['a tool', { ...PAYMENT, tool_hash: 'ab'.repeat(32) }],
  ];
  return changes.map(([name, operation]) => [
    `refuses another operation: ${name}`,
    refuse(OTHER_OPERATION, receipt, getText(operation)),
  ]);
}

export async function textRows({ receipt }: Parts): Promise<Rows> {
  const change = (name: string, changed: string): Rows[number] => [
    `refuses another text: ${name}`,
    refuse(OTHER_OPERATION, receipt, changed),
  ];
  const accepted = async (name: string, operation: Operation): Promise<Rows[number]> => [
    `accepts ${name}`,
    accept(await issue([operation]), getText(operation)),
  ];
  const replaced = withArguments('{"to":"\ufffd"}');
  const large = withArguments('{"cents":9007199254740992}');
  return [
    ['accepts the operation as it was redeemed', accept(receipt)],
    await accepted('__proto__ as a key like others', withArguments('{"__proto__":{"cents":1},"constructor":null}')),
    await accepted('numbers in the order of their digits', withArguments('{"10":1e21,"9":0.1,"a":[[],{},-1.5e-7]}')),
    await accepted('every kind of character', withArguments('{"to":"\\u0000\\b\\"\\\\/\\u007f\\u2028\u{1f600}"}')),
    change('a blank', `${TEXT} `),
    change('members in another order', JSON.stringify(PAYMENT)),
    change('the same number, written otherwise', TEXT.replace('82000', '8.2e4')),
    change('a key twice', TEXT.replace('"cents":82000', '"cents":82000,"cents":1')),
    change('a key twice, once by an escape', TEXT.replace('"cents":82000', '"\\u0063ents":1,"cents":82000')),
    change('a character by its escape', TEXT.replace('ë', '\\u00eb')),
    change('a byte order mark', `\ufeff${TEXT}`),
    change('nothing', ''),
    [
      'refuses another text: a number that is the same as a double',
      refuse(OTHER_OPERATION, await issue([large]), getText(large).replace('992', '993')),
    ],
    [
      'refuses a lone surrogate, which some encoders replace',
      refuse('The text of the operation is no Unicode', await issue([replaced]), getText(replaced).replace('\ufffd', '\ud800')),
    ],
  ];
}

export async function useRows({ receipt, claims }: Parts): Promise<Rows> {
  const second: Operation = { ...PAYMENT, target: 'order-8' };
  const both = await issue([PAYMENT, second]);
  const expired = refuse('The receipt has expired', both, TEXT, { now: NOW + 400 });
  const few = refuse('1 people approved, and 2 must', both, TEXT, { approvals: 2 });
  const again = signText(JSON.stringify(decode(receipt.split('.')[0])), canonicalJson({ ...claims, exp: NOW + 200 }));
  return [
    ['refuses a replay', accept(receipt), executedBefore(receipt)],
    ['refuses a replay in another receipt of the same redemption', accept(receipt), executedBefore(again)],
    [
      'accepts each operation of a receipt once',
      accept(both),
      accept(both, getText(second)),
      executedBefore(both, getText(second)),
      executedBefore(both),
    ],
    ['uses nothing where it refuses', expired, few, accept(both), executedBefore(both)],
  ];
}

export function timeRows(parts: Parts): Rows {
  const { receipt } = parts;
  const early = 'The receipt is not valid yet, or this clock is wrong';
  const late = 'The receipt has expired';
  const none = 'The receipt has no times';
  const at = (now: number) => [receipt, TEXT, { now }] as const;
  const claims = (more: object, why: string) => refuse(why, forge(parts, { claims: more }));
  return [
    ['accepts clocks that differ by 5 seconds', accept(...at(NOW - 6))],
    ['refuses one that is early', refuse(early, ...at(NOW - 7)), refuse(early, ...at(NOW - 60))],
    ['accepts the last second', accept(...at(NOW + 303))],
    ['refuses one that has expired', refuse(late, ...at(NOW + 304)), refuse(late, ...at(NOW + 31_536_000))],
    ['accepts a life of an hour', accept(forge(parts, { claims: { exp: NOW + 3_599 } }))],
    ['refuses a life of a year', claims({ exp: NOW + 31_536_000 }, 'The receipt is valid for longer than an hour')],
    ['refuses a life of an hour and a second', claims({ exp: NOW + 3_600 }, 'The receipt is valid for longer than an hour')],
    ['refuses a time that is a text', claims({ exp: String(NOW + 60) }, none)],
    ['refuses a time that is a truth', claims({ nbf: true }, none)],
    ['refuses a time with a fraction', claims({ exp: NOW + 60.5 }, none)],
    ['refuses a time that is absent', claims({ nbf: undefined }, none), claims({ iat: null }, none)],
  ];
}

export async function audienceRows(parts: Parts): Promise<Rows> {
  const { receipt } = parts;
  const several = await issue([PAYMENT, DEPLOY]);
  const why = 'The receipt is for another team or system';
  const elsewhere = 'The receipt is of another installation';
  const aud = (value: unknown) => refuse(why, forge(parts, { claims: { aud: value } }));
  const own = { ...(parts.claims['assent'] as object), team_id: OTHER_TEAM };
  return [
    ['refuses another team', refuse(why, receipt, TEXT, { team: OTHER_TEAM })],
    ['refuses another system', refuse(why, receipt, TEXT, { system: 'deploy' })],
    ['refuses the start of a system’s name', refuse(why, receipt, TEXT, { system: 'pay' })],
    ['refuses a longer name', aud(`assent:${TEAM}:payments-eu`), aud([`assent:${TEAM}:payments-eu`])],
    ['refuses an audience that is no text', aud({ [`assent:${TEAM}:payments`]: 1 }), aud(null), aud([])],
    ['refuses a team that is not that of the audience', refuse(why, forge(parts, { claims: { assent: own } }))],
    ['refuses another installation', refuse(elsewhere, receipt, TEXT, { issuer: `${ISSUER}.com` })],
    ['refuses an installation that is no text', refuse(elsewhere, forge(parts, { claims: { iss: [ISSUER] } }))],
    ['accepts each system’s own operation of several', accept(several), accept(several, getText(DEPLOY), { system: 'deploy' })],
    [
      'refuses the operation of another system, although the receipt is for both',
      refuse('The operation is for another system', several, getText(DEPLOY)),
      refuse('The operation is for another system', several, TEXT, { system: 'deploy' }),
    ],
  ];
}

export async function peopleRows(parts: Parts): Promise<Rows> {
  const by = (...people: unknown[]) => people.map((user_id) => ({ user_id, at: '2026-11-26T11:59:00Z' }));
  const two = { approvals: 2 };
  const few = '1 people approved, and 2 must';
  const own = (more: object) => forge(parts, { claims: { assent: { ...(parts.claims['assent'] as object), ...more } } });
  const noReceipt = 'This is no receipt';
  return [
    ['refuses too few people', refuse(few, parts.receipt, TEXT, two)],
    ['counts people, not approvals', refuse(few, await issue([PAYMENT], { approved_by: by(MAX, MAX) as never }), TEXT, two)],
    ['accepts two people', accept(await issue([PAYMENT], { approved_by: by(MAX, UMA) as never }), TEXT, two)],
    ['refuses one that nobody approved', refuse('0 people approved, and 1 must', own({ approved_by: [] }))],
    ['counts no people without an id', refuse('0 people approved, and 1 must', own({ approved_by: [null, ...by(7, null)] }))],
    ['refuses another version', refuse(noReceipt, own({ v: 2 })), refuse(noReceipt, own({ v: true }))],
    [
      'refuses one without operations',
      refuse(noReceipt, own({ operations: undefined })),
      refuse(noReceipt, own({ operations: {} })),
    ],
    ['refuses operations that are none', refuse(OTHER_OPERATION, own({ operations: [null, 7, []] }))],
    ['refuses one without people', refuse(noReceipt, own({ approved_by: undefined }))],
    ['refuses one without a redemption', ...[null, 7].map((jti) => refuse(noReceipt, forge(parts, { claims: { jti } })))],
    [
      'refuses one that says nothing',
      ...[null, [], 'x'].map((assent) => refuse(noReceipt, forge(parts, { claims: { assent } }))),
    ],
  ];
}
