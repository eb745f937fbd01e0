import { formatStatus, type StatusChoice } from '../../../work/tasks/rules.js';
import { shown } from '../importers/foreign.js';
import { countTasks } from './strangers.js';

/** Names of states that the note lists; a file may hold any number of others. */
const MAX_NAMES = 20;
const MAX_KEY = 100;
/** Words that trackers have for the four statuses themselves. */
const PLAIN =
  /^(open|opened|new|reopened|unstarted|started|doing|review|closed|complete|completed|finished|resolved|cancelled|notplanned|wontdo|wontfix)$/;

const toKey = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
    .slice(0, MAX_KEY);

/** Whether a state is called as the status that its tasks get, or as trackers call that status. */
export function isPlain(name: string, status: StatusChoice): boolean {
  const key = toKey(name);
  return key === toKey(formatStatus(status)) || PLAIN.test(key);
}

/** Collects states of a file that the team has no stage for, and that are called otherwise than the status that their tasks got, for one note. */
export class States {
  private readonly names = new Map<string, { name: string; status: StatusChoice; tasks: number }>();
  private line = 0;
  private others = 0;

  add(name: string, status: StatusChoice, line: number): void {
    if (isPlain(name, status)) return;
    const key = toKey(name);
    const known = this.names.get(key);
    this.line ||= line;
    if (known) known.tasks += 1;
    else if (this.names.size < MAX_NAMES) this.names.set(key, { name: shown(name), status, tasks: 1 });
    else this.others += 1;
  }

  /** No note if every state is one of the team. */
  *notes(): Generator<{ line: number; message: string }> {
    if (this.names.size === 0) return;
    const became = [...this.names.values()].map(
      ({ name, status, tasks }) => `${name} became ${formatStatus(status)} (${countTasks(tasks)})`,
    );
    const rest = this.others > 0 ? `; ${this.others.toLocaleString('en-US')} tasks are in further ones` : '';
    const message = `The team has no stage of these names: ${became.join(', ')}${rest}. An import that gives these states a place, or after they are added under Stages, puts new tasks there`;
    yield { line: this.line, message };
  }
}
