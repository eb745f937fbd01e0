import { MAX_EXPECTED } from '../../../work/tasks/rules.js';
import { shown } from '../importers/foreign.js';
import { toAddress } from '../importers/values.js';

/** Names that are noted one by one; a file may hold hundreds of thousands of others. */
const MAX_NAMES = 1_000;
const MAX_KEY = 254;

/** Returns a number of tasks in words. */
export const countTasks = (tasks: number): string => (tasks === 1 ? '1 task' : `${tasks.toLocaleString('en-US')} tasks`);

/** Whether a person is invited is not said: only admins may know that. */
function buildMessage(name: string, tasks: number): string {
  const address = toAddress(name);
  const who = `The file assigns ${countTasks(tasks)} to ${address ?? shown(name)}, who is no member of the team`;
  const many = tasks > MAX_EXPECTED ? `the first ${MAX_EXPECTED}` : tasks === 1 ? 'it' : 'them';
  if (address !== null) return `${who}: they get ${many} when they join with this address`;
  return `${who}: import it again when they have joined, and let it take the fields of the file`;
}

/** Collects the assignees of a file who are no members, for one note each. */
export class Strangers {
  private readonly names = new Map<string, { name: string; line: number; tasks: number }>();
  private others: { line: number; tasks: number } | undefined;

  add(name: string, line: number): void {
    const key = name.trim().toLowerCase().slice(0, MAX_KEY);
    const known = this.names.get(key);
    if (known) known.tasks += 1;
    else if (this.names.size < MAX_NAMES) this.names.set(key, { name: name.slice(0, MAX_KEY), line, tasks: 1 });
    else this.others = { line: this.others?.line ?? line, tasks: (this.others?.tasks ?? 0) + 1 };
  }

  /** One note for each name, with the first line that has it. */
  *notes(): Generator<{ line: number; message: string }> {
    for (const { name, line, tasks } of this.names.values()) yield { line, message: buildMessage(name, tasks) };
    if (this.others) {
      const { line, tasks } = this.others;
      yield { line, message: `The file assigns ${countTasks(tasks)} to others who are no members of the team` };
    }
  }
}
