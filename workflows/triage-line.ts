import type { TriageResult } from './contracts/triage-contract.js';

/** Returns one line about a triage for operators: counts, ids and codes. */
export function triageLine({ outcome, actionId, changes, risk, code }: TriageResult): string {
  switch (outcome) {
    case 'proposed':
      return `${changes} ${changes === 1 ? 'change' : 'changes'} proposed, highest risk ${risk}: plan \`${actionId}\``;
    case 'nothing':
      return 'nothing to propose';
    case 'done':
      return `nothing to do: it has its plan already${actionId === undefined ? '' : `, \`${actionId}\``}`;
    case 'off':
      return 'nothing to do: not enabled';
    case 'blocked':
      return 'nothing done: the user whose permissions it uses may no longer write in the team';
    case 'refused':
      return `nothing done: the plan was refused (${code})`;
  }
}
