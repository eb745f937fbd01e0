import type { User } from '../../identity/auth/schema.js';
import { createFormatter } from './formatter.js';

/** Fields whose names messages of the API hold, as pages name them. Other words stay: they may be those of a user. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  allowed_hosts: 'allowed hosts',
  assigned_to: 'assignee',
  auto_complete: 'automatic completion',
  completed_at: 'time of completion',
  cron: 'time',
  cycle_id: 'cycle',
  due_after: 'due after',
  due_before: 'due before',
  due_date: 'due date',
  end_date: 'last day',
  entity_type: 'kind of records',
  estimated_hours: 'estimated hours',
  group_by: 'grouping',
  lead_id: 'lead',
  on_conflict: 'answer to records that the team has already',
  parent_task_id: 'parent task',
  project_id: 'project',
  project_ids: 'projects',
  reassign_to: 'successor',
  rollover_to: 'target of the open tasks',
  schedule_cron: 'schedule',
  schedule_timezone: 'time zone',
  stage_id: 'stage',
  start_date: 'first day',
  task_ids: 'tasks',
  team_id: 'team',
  trigger_type: 'trigger',
  user_ids: 'people',
};

const TIME = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})/g;
const BYTES = /\b(\d+) bytes\b/g;
/** A place in a definition, such as `actions[0].params.title`. */
const STEP = /\bactions(?:\[|\.)(\d+)\]?(?:\.params)?(?:\.(\w+))?/g;
/** A gate by its place, where a page is about one run. */
const GATE = /^Gate \d+(?= (?:was|of) )/;
/** A name alone: no part of a longer name, a quotation, a template or a path. */
const FIELD = new RegExp(String.raw`(?<![\w.:“"'{\`/-])(\ban? )?(${Object.keys(FIELD_NAMES).join('|')})(?![\w.”"'}\`/-])`, 'g');

const withArticle = (article: string | undefined, name: string): string =>
  article === undefined ? name : `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;

const [MEGABYTE, GIGABYTE] = [1024 ** 2, 1024 ** 3];

/** Words a limit as its form does: those of the service are whole mebibytes, which forms call MB. */
function limitText(size: number, formatSize: (size: number) => string): string {
  if (size % GIGABYTE === 0) return `${size / GIGABYTE} GB`;
  return size % MEGABYTE === 0 ? `${size / MEGABYTE} MB` : formatSize(size);
}

/** Words a message of the API for a page: fields by the names of its forms, times and sizes as people write them. */
export function plainMessage(message: string, me: User | null): string {
  const words = createFormatter(me);
  const isDate = (text: string): boolean => !Number.isNaN(Date.parse(text));
  return message
    .replace(TIME, (time) => (isDate(time) ? words.moment(time) : time))
    .replace(BYTES, (_text, size: string) => limitText(Number(size), words.formatSize))
    .replace(STEP, (_place, at: string, name: string | undefined) => {
      const step = `step ${Number(at) + 1}`;
      return name === undefined ? step : `${step}, ${FIELD_NAMES[name] ?? name.replaceAll('_', ' ')}`;
    })
    .replace(GATE, 'The gate')
    .replace(FIELD, (_text, article: string | undefined, name: string) => withArticle(article, FIELD_NAMES[name] as string));
}

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
