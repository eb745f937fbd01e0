import fc from 'fast-check';
import {
  type AskedRequirement,
  decideTerms,
  DEFAULT_REQUIREMENT,
  findRule,
  isBelowDefault,
  type RequestRule,
  type Requirement,
} from '../../../../api/gate/requirement/request-rules.js';
import type { Operation } from '../../../../api/gate/staging/operation.js';
import { hasRoleAtLeast, SEATS } from '../../../../api/platform/access/access.js';

const operation = (system: string, name = 'exec', target: string | null = null): Operation => ({
  system,
  name,
  target,
  arguments: {},
});
const rule = (fields: Partial<RequestRule> = {}): RequestRule => ({
  rule_id: 'r',
  system: '*',
  name: '*',
  target: '*',
  role: null,
  approvals: null,
  allow_self: null,
  require_code: false,
  is_denied: false,
  max_use_seconds: null,
  ...fields,
});

describe('a rule', () => {
  it.each<[Partial<RequestRule>, Operation, boolean]>([
    [{}, operation('payments'), true],
    [{ system: 'pay*' }, operation('payments'), true],
    [{ system: 'pay' }, operation('payments'), false],
    [{ system: 'payments' }, operation('payments'), true],
    // A pattern is no regular expression, and `*` is one only at the end.
    [{ system: 'p.*' }, operation('payments'), false],
    [{ target: 'prod*' }, operation('deploy', 'apply', 'prod-eu'), true],
    [{ target: 'prod*' }, operation('deploy', 'apply', 'PROD'), false],
    [{ target: 'prod*' }, operation('deploy', 'apply'), false],
    [{ target: '' }, operation('deploy', 'apply'), true],
    [{ target: '' }, operation('deploy', 'apply', 'prod'), false],
    [{ name: 'refund' }, operation('payments', 'refund_all'), false],
  ])('%j matches %j: %s', (fields, about, expected) => {
    expect(findRule([rule(fields)], about) !== null).toBe(expected);
  });

  it('that comes first wins', () => {
    const [first, second] = [rule({ system: 'pay*', approvals: 1 }), rule({ approvals: 3 })];
    expect(findRule([first, second], operation('payments'))).toBe(first);
    expect(findRule([first, second], operation('deploy'))).toBe(second);
  });

  it.each<[Partial<RequestRule>, boolean]>([
    [{}, false],
    [{ role: 'admin', approvals: 2 }, false],
    [{ role: 'member' }, true],
    [{ role: 'member', approvals: 3 }, true],
    [{ allow_self: true }, true],
    [{ allow_self: true, is_denied: true }, false],
  ])('%j asks for less than the default: %s', (fields, expected) => {
    expect(isBelowDefault(rule(fields))).toBe(expected);
  });
});

describe('the terms of a request', () => {
  it('are the default without a rule', () => {
    expect(decideTerms([], [operation('payments')])).toEqual({
      requirement: DEFAULT_REQUIREMENT,
      require_code: false,
      max_use_seconds: null,
      denied_by: null,
      rules: [null],
    });
  });

  it('are the strictest of all its operations: a harmless one beside it lowers nothing', () => {
    const rules = [
      rule({ system: 'notes', role: 'member', allow_self: true, max_use_seconds: 600 }),
      rule({ system: 'payments', role: 'admin', approvals: 2, require_code: true, max_use_seconds: 60 }),
      rule({ system: 'wipe', is_denied: true }),
    ];
    const both = decideTerms(rules, [operation('notes'), operation('payments')]);
    expect(both.requirement).toEqual({ role: 'admin', approvals: 2, allow_self: false });
    expect([both.require_code, both.max_use_seconds, both.denied_by]).toEqual([true, 60, null]);
    expect(decideTerms(rules, [operation('notes')]).requirement).toEqual({ role: 'member', approvals: 1, allow_self: true });
    expect(decideTerms(rules, [operation('notes'), operation('wipe')]).denied_by).toBe(rules[2]);
    // One that no rule matches has the default.
    expect(decideTerms(rules, [operation('notes'), operation('other')]).requirement).toEqual(DEFAULT_REQUIREMENT);
  });

  it('are raised by the requester, and never lowered', () => {
    const role = fc.constantFrom(...SEATS);
    const approvals = fc.integer({ min: 1, max: 5 });
    const asked = fc.record({ role, approvals, allow_self: fc.boolean() }, { requiredKeys: [] });
    const some = fc.record({ role: fc.option(role), approvals: fc.option(approvals), allow_self: fc.option(fc.boolean()) });
    const isAsStrict = (one: Requirement, other: AskedRequirement) =>
      (other.role === undefined || hasRoleAtLeast(one.role, other.role)) &&
      one.approvals >= (other.approvals ?? 1) &&
      (other.allow_self !== false || !one.allow_self);
    fc.assert(
      fc.property(asked, some, (wanted, fields) => {
        const rules = [rule(fields)];
        const floor = decideTerms(rules, [operation('x')]).requirement;
        const { requirement } = decideTerms(rules, [operation('x')], wanted);
        expect(isAsStrict(requirement, floor) && isAsStrict(requirement, wanted)).toBe(true);
        // The requester cannot bring in people behind the request.
        expect(requirement.allow_self && !floor.allow_self).toBe(false);
      }),
    );
  });
});
