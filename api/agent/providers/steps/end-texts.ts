import type { TurnEnd } from '../../../../workflows/contracts/turn-contract.js';
import type { Staged } from '../../plans/proposal.js';

/** What the person reads if a turn ends without an answer of the model. Fixed texts: nothing of a provider's words. */
const END_TEXTS: Record<Exclude<TurnEnd, 'done'>, string> = {
  loop_limit: 'I stopped, because this took more steps than one message may take. Nothing is proposed. Ask for less at once.',
  timed_out: 'I stopped, because this took too long. Nothing is proposed. Ask again, or for less at once.',
  cancelled: 'Stopped. Nothing is proposed.',
  internal: 'Something went wrong on our side. Nothing is proposed. Ask again.',
  model_busy: 'The model is busy. Nothing is proposed. Try again in a minute.',
  model_refused:
    'The model’s provider refused the request. Nothing is proposed. An administrator of this installation can see why.',
  model_garbled: 'The model’s answer could not be read. Nothing is proposed. Ask again.',
  model_unreachable: 'The model cannot be reached. Nothing is proposed. Try again in a minute.',
  budget_exceeded:
    'The team’s budget for the model is used up for this month. It begins anew on the first of the next month (UTC).',
  model_not_allowed: 'The team of a linked item does not allow the model any more. Nothing is proposed.',
};

/** Returns what the person reads at an end without an answer; `waitS`: seconds that a busy provider asked for. */
export function endText(end: Exclude<TurnEnd, 'done'>, waitS: number | null): string {
  if (end !== 'model_busy' || waitS === null) return END_TEXTS[end];
  const time = waitS <= 120 ? `${Math.max(waitS, 1)} seconds` : `${Math.ceil(waitS / 60)} minutes`;
  return `The model is busy. Nothing is proposed. Try again in ${time}.`;
}

/** Returns sentences about what was proposed and is not in the plan. */
export function omittedText({ omitted }: Pick<Staged, 'omitted'>, leftOut: number): string {
  const lines = omitted.slice(0, 10).map(({ index, reason }) => `Change ${index + 1} was left out: ${reason}.`);
  if (omitted.length > 10) lines.push(`${omitted.length - 10} more were left out.`);
  if (leftOut > 0) lines.push(`${leftOut} proposed changes were not read, because a plan has at most 50.`);
  return lines.join('\n');
}
