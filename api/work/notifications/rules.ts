import type { NoticeFact } from './write-notices.sql.js';

/** How an email lists what a person has not read. */
export const NOTICE_MAILS = ['soon', 'daily', 'never'] as const;

/** What a notice of a task says in an email, after the task's name: "HAR-12: Uma assigned you “Fix the crane”". */
const OF_TASK =
  /^([A-Z][A-Z0-9]{0,5}-\d+): (.*? (?:assigned you|mentioned you on|commented on|completed|canceled|closed|reopened)) “(.*?)”(?=: |$| as a duplicate$)/u;
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
    status_changed: `${team_id} ${actor_id}`,
    commented: `${item_id}${hasQuestion(quoted ?? '') ? ' ?' : ''}`,
    run_ended: automation_id,
    project_updated: item_id,
  };
  return `${kind} ${about[kind]}`;
}
