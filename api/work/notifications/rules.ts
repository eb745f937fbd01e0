import { withoutPictures } from '../../platform/plain-text.js';
import type { NoticeFact } from './write-notices.sql.js';

/** How an email lists what a person has not read. */
export const NOTICE_MAILS = ['soon', 'daily', 'never'] as const;

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

const RUN_ENDS: Readonly<Record<'failed' | 'expired' | 'skipped', (fact: NoticeFact, name: string) => string>> = {
  failed: ({ quoted }, name) => `${name} failed${quote(quoted && plainError(quoted))}`,
  expired: (_fact, name) => `${name} ended: nobody decided in time`,
  skipped: (fact, name) => `${nameActor(fact)} rejected ${name}${quote(fact.quoted)}`,
};

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
      return RUN_ENDS[fact.outcome ?? 'failed'](fact, `a run of ${title}`).replace(/^a/, 'A');
  }
}

/** What a notice of a task says in an email, after the task's name: "HAR-12: Uma assigned you “Fix the crane”". */
const OF_TASK = /^([A-Z][A-Z0-9]{0,5}-\d+): (.*? (?:assigned you|mentioned you on|commented on)) “(.*?)”(?=: |$)/u;
const MAX_SUBJECT = 120;

/** Returns the subject of an email about one notice: "Uma assigned you HAR-12 Fix the crane". */
export function wordSubject(message: string): string {
  const [, name, act, title] = OF_TASK.exec(message) ?? [];
  const text = name === undefined ? message : `${act} ${name} ${title}`;
  const points = Array.from(text);
  return points.length > MAX_SUBJECT ? `${points.slice(0, MAX_SUBJECT - 1).join('')}…` : text;
}

/** Whether a text asks something. */
export const hasQuestion = (text: string): boolean => /\?(\s|$)/.test(text);

/** Returns what a notice has in common with those that may replace each other. A comment without a question replaces none with one. */
export function groupNotice({ kind, team_id, actor_id, item_id, automation_id, quoted }: NoticeFact): string {
  const about = {
    assigned: `${team_id} ${actor_id}`,
    mentioned: `${team_id} ${actor_id}`,
    commented: `${item_id}${hasQuestion(quoted ?? '') ? ' ?' : ''}`,
    run_ended: automation_id,
  };
  return `${kind} ${about[kind]}`;
}
