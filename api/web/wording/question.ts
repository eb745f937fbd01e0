import { availableActions } from '../../automation/actions/registry.js';
import { WORK_ACTIONS } from '../../gate/work-actions/catalogue.js';
import type { WorkAction } from '../../gate/work-actions/action.js';
import type { ActionLine, FieldLine } from '../../gate/staging/schema.js';

/** What a decision is about, in one line: what its riskiest action would change. */
interface Question {
  /** "Close", "Change task", "Send an HTTP request". Never the name that an automation gives its action: that is a claim. */
  verb: string;
  title: string | null;
  /** Page of the target. */
  href: string | null;
  /** Further actions that the same decision releases. */
  more: number;
  /** The field that changes, or names of several. */
  change: { name: string | null; before: string | null; after: string } | null;
  /** It says all that the decision releases: one value of one action. */
  isWhole: boolean;
  /** The same for screen readers and titles, without what changes. */
  text: string;
}

type Line = Pick<ActionLine, 'type' | 'verb' | 'title' | 'href' | 'risk' | 'skipped'> & { fields: readonly FieldLine[] };

const ITEM_PAGE = '/app/items/';
/** The id of the item to whose page a line leads. */
export const itemIn = (href: string | null): string | undefined =>
  href?.startsWith(ITEM_PAGE) ? decodeURIComponent(href.slice(ITEM_PAGE.length)) : undefined;

/** Length of a value above which the headline names the field only. */
const MAX_VALUE = 60;
const RISKS = ['high', 'medium', 'low'] as const;

const workActions = new Map<string, WorkAction>(
  (WORK_ACTIONS as readonly WorkAction[]).flatMap((action) =>
    [action.tool, action.automation?.type].flatMap((name) => (name === undefined ? [] : [[name, action] as const])),
  ),
);
/** The work action that a line is of; by its name in plans or in automations. */
export const findWorkAction = (type: string): WorkAction | undefined => workActions.get(type);
const labels = new Map<string, string>(availableActions().map(({ type, label }) => [type, label]));

const getStatus = (line: Line): FieldLine | undefined =>
  findWorkAction(line.type)?.tool === 'task.set_status' ? line.fields.find(({ name }) => name === 'status') : undefined;

const isShort = (text: string | null): boolean => (text ?? '').length <= MAX_VALUE && !/\n/.test(text ?? '');

/** "POST to hooks.example.com": where a request goes is what its decision is about. */
function getRequest({ type, fields }: Line): string | undefined {
  if (type !== 'http_request') return undefined;
  const read = (field: string): string => fields.find(({ name }) => name === field)?.after ?? '';
  const url = read('url');
  return URL.canParse(url) && isShort(new URL(url).host) ? `${read('method')} to ${new URL(url).host}` : undefined;
}

function getVerb(line: Line): string {
  const status = getStatus(line);
  if (status) return status.after === 'done' ? 'Close' : 'Change status of';
  const request = getRequest(line);
  if (request) return request;
  const label = labels.get(line.type);
  return findWorkAction(line.type)?.words.verb ?? (label && line.title !== null ? `${label}:` : (label ?? line.verb));
}

/** Returns the fields as people chose them: what says why nobody completes a task is part of its status. */
function asChosen(fields: readonly FieldLine[]): readonly FieldLine[] {
  const reason = fields.find(({ name }) => name === 'resolution');
  if (!reason) return fields;
  const status = fields.find(({ name }) => name === 'status');
  const [before, after] = [reason.before ?? status?.before ?? 'done', reason.after ?? status?.after ?? 'done'];
  return [{ ...reason, name: 'status', before, after }, ...fields.filter((field) => field !== reason && field !== status)];
}

function getChange(line: Line, formatStatus: (status: string) => string): Question['change'] {
  const action = findWorkAction(line.type);
  const isUpdate = action?.kind === 'update' || line.type === 'move_to_cycle';
  const changed = isUpdate ? asChosen(line.fields).filter(({ before, after }) => before !== after) : [];
  const [first] = changed;
  if (!first) return null;
  if (changed.length > 1 || !isShort(first.before) || !isShort(first.after))
    return { name: null, before: null, after: changed.map(({ name }) => name).join(', ') };
  const show = (text: string | null): string => (text === null ? 'none' : first.name === 'status' ? formatStatus(text) : text);
  const isPlain = getStatus(line) !== undefined || action?.tool === 'task.assign';
  return { name: isPlain ? null : first.name, before: show(first.before), after: show(first.after) };
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether the message of a gate says more than the question above it: a word that is not there. */
export function addsToQuestion(message: string, question: Question | undefined): boolean {
  if (!question) return true;
  const { text, change } = question;
  const said = new Set(wordsOf([text, change?.name, change?.before, change?.after].join(' ')));
  return wordsOf(message).some((word) => !said.has(word));
}

/** Words what actions would do as a question, the riskiest one first; undefined if there are none. What a condition skips is not done. */
export function wordQuestion(all: readonly Line[], formatStatus: (status: string) => string): Question | undefined {
  const lines = all.filter(({ skipped }) => !skipped);
  const line = RISKS.map((risk) => lines.find((one) => one.risk === risk)).find((one) => one !== undefined);
  if (!line) return undefined;
  const [verb, { title, href }, more] = [getVerb(line), line, lines.length - 1];
  const text = `${verb}${title === null ? '' : ` “${title}”`}${more > 0 ? ` and ${more} more` : ''}`;
  const change = getChange(line, formatStatus);
  const isWhole =
    all.length === 1 &&
    line.fields.length === 1 &&
    line.fields[0]?.asked === undefined &&
    change !== null &&
    change.before !== null;
  return { verb, title, href, more, change, isWhole, text };
}
