import { withoutPictures } from '../../platform/plain-text.js';
import type { NoticeFact } from './write-notices.sql.js';

const onOneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim();
/** Counts steps from 1, as pages do. */
const plainError = (text: string): string =>
  text.replace(/^actions\[(\d+)\]/, (_whole, index: string) => `step ${Number(index) + 1}`);
const quote = (text: string | null): string =>
  text === null || text.trim() === '' ? '' : `: ${onOneLine(withoutPictures(text))}`;

const ofMachine: Readonly<Record<string, (name: string) => string>> = {
  automation: (name) => `An automation of ${name}`,
  agent: (name) => `A plan that ${name} confirmed`,
};

function nameActor({ actor_name, actor_type }: NoticeFact): string {
  if (actor_name === null) return 'Assent';
  return ofMachine[actor_type ?? '']?.(actor_name) ?? actor_name;
}

/** What became of a run or a task, by its name. */
const OUTCOMES: Readonly<Record<NonNullable<NoticeFact['outcome']>, (fact: NoticeFact, name: string) => string>> = {
  failed: ({ quoted }, name) => `${name} failed${quote(quoted && plainError(quoted))}`,
  expired: (_fact, name) => `${name} ended: nobody decided in time`,
  skipped: (fact, name) => `${nameActor(fact)} rejected ${name}${quote(fact.quoted)}`,
  completed: (fact, name) => `${nameActor(fact)} completed ${name}`,
  canceled: (fact, name) => `${nameActor(fact)} canceled ${name}`,
  duplicate: (fact, name) => `${nameActor(fact)} closed ${name} as a duplicate`,
  reopened: (fact, name) => `${nameActor(fact)} reopened ${name}`,
};
const wordOutcome = (fact: NoticeFact, name: string): string => OUTCOMES[fact.outcome ?? 'failed'](fact, name);

/** How a project goes, by its health. */
const HEALTH_WORDS: Readonly<Record<string, string>> = { on_track: 'On track', at_risk: 'At risk', off_track: 'Off track' };

/** Returns the message of a notice, on one line. */
export function wordNotice(fact: NoticeFact): string {
  const title = `“${onOneLine(fact.title)}”`;
  switch (fact.kind) {
    case 'assigned':
      return `${nameActor(fact)} assigned you ${title}`;
    case 'mentioned':
      return `${nameActor(fact)} mentioned you on ${title}${quote(fact.quoted)}`;
    case 'commented':
      return `${nameActor(fact)} commented on ${title}${quote(fact.quoted)}`;
    case 'run_ended':
      return wordOutcome(fact, `a run of ${title}`).replace(/^a/, 'A');
    case 'project_updated':
      return `${nameActor(fact)} posted an update on ${title}${quote(HEALTH_WORDS[fact.quoted ?? ''] ?? null)}`;
    case 'status_changed':
      return wordOutcome(fact, title);
  }
}
