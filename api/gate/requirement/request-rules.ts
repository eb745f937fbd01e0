import { hasRoleAtLeast, type Seat } from '../../platform/access/access.js';
import type { Operation } from '../staging/operation.js';

/** Who must approve a change request. */
export interface Requirement {
  /** Lowest role that may approve. */
  role: Seat;
  /** How many different people. */
  approvals: number;
  /** Whether people behind the request count. */
  allow_self: boolean;
}

/** What a requester asks for: it only makes the requirement stricter. */
export type AskedRequirement = Partial<Requirement>;

/** A rule of a team for operations; null members take the default. */
export interface RequestRule {
  rule_id: string;
  /** Patterns: equal, or up to a `*` at the end. An operation without a target has the empty one. */
  system: string;
  name: string;
  target: string;
  role: Seat | null;
  approvals: number | null;
  allow_self: boolean | null;
  /** Whether the approver types the code that the requester reads out. */
  require_code: boolean;
  /** Whether such an operation is refused. */
  is_denied: boolean;
  /** Longest time from the approval to the use, s. */
  max_use_seconds: number | null;
}

/** What holds for a request. */
export interface Terms {
  requirement: Requirement;
  require_code: boolean;
  max_use_seconds: number | null;
  /** The rule that refuses one of the operations; null if none does. */
  denied_by: RequestRule | null;
  /** The first matching rule of each operation; null where none matches. */
  rules: (RequestRule | null)[];
}

/** Without a rule: one manager who is not behind the request. */
export const DEFAULT_REQUIREMENT: Requirement = { role: 'manager', approvals: 1, allow_self: false };

const matches = (pattern: string, text: string): boolean =>
  pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;

/** Returns the first rule that matches an operation, in the order of the list; null if none does. */
export const findRule = (rules: readonly RequestRule[], { system, name, target }: Operation): RequestRule | null =>
  rules.find((rule) => matches(rule.system, system) && matches(rule.name, name) && matches(rule.target, target ?? '')) ?? null;

const requirementOf = (rule: RequestRule | null): Requirement => ({
  role: rule?.role ?? DEFAULT_REQUIREMENT.role,
  approvals: rule?.approvals ?? DEFAULT_REQUIREMENT.approvals,
  allow_self: rule?.allow_self ?? DEFAULT_REQUIREMENT.allow_self,
});

const stricter = (one: Requirement, other: Requirement): Requirement => ({
  role: hasRoleAtLeast(one.role, other.role) ? one.role : other.role,
  approvals: Math.max(one.approvals, other.approvals),
  allow_self: one.allow_self && other.allow_self,
});

/** Whether a rule asks for less than a team without rules does: such a rule is an audit entry of severity HIGH. */
export function isBelowDefault(rule: RequestRule): boolean {
  if (rule.is_denied) return false;
  const own = requirementOf(rule);
  const { role, approvals, allow_self } = stricter(own, DEFAULT_REQUIREMENT);
  return role !== own.role || approvals !== own.approvals || allow_self !== own.allow_self;
}

/**
 * Returns what holds for a request: of all rules that its operations match, and of what the requester asks for, the strictest of each member.
 * @param operations at least one
 */
export function decideTerms(
  rules: readonly RequestRule[],
  operations: readonly Operation[],
  asked: AskedRequirement = {},
): Terms {
  const found = operations.map((operation) => findRule(rules, operation));
  const floor = found.map(requirementOf).reduce(stricter);
  const windows = found.flatMap((rule) => rule?.max_use_seconds ?? []);
  return {
    requirement: stricter(floor, { ...floor, ...asked }),
    require_code: found.some((rule) => rule?.require_code),
    max_use_seconds: windows.length === 0 ? null : Math.min(...windows),
    denied_by: found.find((rule) => rule?.is_denied) ?? null,
    rules: found,
  };
}
