import { withVisibleNames } from '../../platform/validation/invisible.js';
import type { Context } from '../../platform/context.js';
import { isGivenEvent } from '../language/triggers.js';
import { namesAt } from './names-at.js';
import { truncateText } from './record/rules.js';

/** Fields by which people recognize an event, in reading order. */
export const FACT_FIELDS = ['title', 'repo', 'pr_number', 'issue_number', 'branch', 'tag', 'name', 'sender'] as const;
const FACTS = [...FACT_FIELDS, 'task', 'project'] as const;

/** Display fields of an event as text; `task` and `project` by title. */
export type Facts = Partial<Record<(typeof FACTS)[number], string>>;

/** In code points. */
const MAX_FACT_LENGTH = 160;

/** Event fields are untrusted: keeps one short line of text, or a number. */
function factText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return undefined;
  const line = withVisibleNames(value.slice(0, 4 * MAX_FACT_LENGTH))
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return line === '' ? undefined : truncateText(line, MAX_FACT_LENGTH);
}

/** Returns the display fields of an event. Titles of our own records come from the database: an event may say anything. */
function buildFacts(
  event: Readonly<Record<string, unknown>>,
  { task, project }: { task?: string | undefined; project?: string | undefined },
): Facts {
  const values: Record<string, unknown> = { ...event, task, project };
  return Object.fromEntries(
    FACTS.flatMap((name) => {
      const text = factText(values[name]);
      return text === undefined ? [] : [[name, text] as const];
    }),
  );
}

/** Returns one line about a run, such as "acme/rocket #41 · Harden the session cookie"; null if its event names nothing. */
function getSubject(facts: Facts): string | null {
  const { repo, tag, branch } = facts;
  const number = facts.pr_number ?? facts.issue_number;
  const place = [repo, number === undefined ? (tag ?? branch) : `#${number}`].filter((part) => part !== undefined).join(' ');
  const title = facts.title ?? facts.name ?? facts.task ?? facts.project;
  return [place, title].filter(Boolean).join(' · ') || null;
}

const MAX_LINK_LENGTH = 500;

/** Returns the page on the code host that a run is about, such as its pull request; null of an event that its caller gave, and unless it is https. */
export function findSource({ trigger_type, event }: Pick<Recognizable, 'trigger_type' | 'event'>): string | null {
  const { url } = event;
  if (isGivenEvent(trigger_type) || typeof url !== 'string' || url.length > MAX_LINK_LENGTH || !URL.canParse(url)) return null;
  const { protocol, href } = new URL(url);
  return protocol === 'https:' ? href : null;
}

interface Recognizable {
  team_id: string | null;
  creator_id: string;
  trigger_type: string;
  event: Readonly<Record<string, unknown>>;
}

/** Ids of records that an event is about. */
function aboutIn({ event }: Recognizable): { task: unknown; project: unknown } {
  const { task, project } = event as { task?: { task_id?: unknown } | null; project?: { project_id?: unknown } | null };
  return { task: task?.task_id, project: project?.project_id };
}

/** Returns by what people recognize runs. A manual start or a call gives its own event, which may say anything: only the ids in it count. */
export async function factsOfRuns(
  ctx: Pick<Context, 'db'>,
  runs: readonly Recognizable[],
): Promise<{ facts: Facts; subject: string | null }[]> {
  const ids = runs.map((one) => Object.values(aboutIn(one)).filter((id): id is string => typeof id === 'string'));
  const wanted = runs.map(({ team_id, creator_id }, at) => ({ place: team_id ?? creator_id, items: ids[at] ?? [], users: [] }));
  const names = await namesAt(ctx, wanted);
  return runs.map((one, at) => {
    const { task, project } = aboutIn(one);
    const getName = (id: unknown): string | undefined => (typeof id === 'string' ? names[at]?.[id] : undefined);
    const facts = buildFacts(isGivenEvent(one.trigger_type) ? {} : one.event, { task: getName(task), project: getName(project) });
    return { facts, subject: getSubject(facts) };
  });
}
