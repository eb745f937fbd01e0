import { formatStatus } from '../../../../work/tasks/rules.js';
import type { ActionLine } from '../../../../gate/staging/schema.js';

/** Actions that an email shows; the page of the decision shows all. */
const MAX_LINES = 40;
/** Longest value in an email, in UTF-16 units; the page shows all of it. */
const MAX_VALUE_LENGTH = 300;

const cut = (text: string | null): string =>
  text === null
    ? 'none'
    : text.length <= MAX_VALUE_LENGTH
      ? text
      : `${text.slice(0, MAX_VALUE_LENGTH)}… (cut: ${text.length} characters)`;

/** Fields of a task whose values are codes. */
const CODED = ['status', 'resolution', 'priority'];
const inWords = (name: string, value: string | null): string | null =>
  value !== null && CODED.includes(name) ? formatStatus(value) : value;

function getValue(field: ActionLine['fields'][number], isDeletion: boolean): string {
  const [before, after] = [inWords(field.name, field.before), inWords(field.name, field.after)];
  if (isDeletion) return cut(before);
  if (before !== null && before === after) return `${cut(after)} (as it is)`;
  return before === null ? cut(after) : `${cut(before)} → ${cut(after)}`;
}

/** A line break in a value shows as a mark, so that no value looks like a line of its own. */
const onOneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ⏎ ');

/** Returns one action as lines of text: what it does to which target, then every value. */
function splitLines({ verb, title, fields, refused, skipped, risk, is_deletion }: ActionLine, at: number): string[] {
  const heading = [title === null ? verb : `${verb} “${title}”`, ...(risk === 'low' ? [] : [`${risk} risk`])].join(', ');
  return [
    onOneLine(`${at + 1}. ${heading}`),
    ...fields.map((field) => onOneLine(`   ${field.name}: ${getValue(field, is_deletion)}`)),
    ...(skipped === null ? [] : [onOneLine(`   skipped: ${skipped}`)]),
    ...(refused === null ? [] : [onOneLine(`   would be refused now: ${refused}`)]),
  ];
}

/** Returns what approving a gate starts, for an email: in whose name, then each action. */
export function describeStaged(lines: readonly ActionLine[], actor: string | undefined): string[] {
  if (lines.length === 0) return [];
  const who = actor ?? 'the automation’s creator';
  const more = lines.length > MAX_LINES ? [`Open the page to see all ${lines.length}.`] : [];
  return [`Runs if approved, in the name of ${who}:`, ...lines.slice(0, MAX_LINES).flatMap(splitLines), ...more];
}
