import { MAX_ERRORS } from '../../rules.js';

/** What is said of a line, in the record of the job. */
export interface LineMessage {
  line: number;
  entity: string | null;
  message: string;
}

/** Removes what PostgreSQL cannot store: names of the file may hold it, and cutting a name may leave half of a character. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** Counts messages, and keeps the first hundred. */
export class Messages {
  readonly first: LineMessage[] = [];
  count = 0;

  add(line: number, entity: string | null, message: string): void {
    this.count += 1;
    if (this.first.length < MAX_ERRORS) {
      this.first.push({ line, entity: entity === null ? null : storable(entity), message: storable(message) });
    }
  }
}
