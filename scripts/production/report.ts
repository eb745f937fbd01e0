interface Row {
  what: string;
  found: string;
  goal: string;
  holds: boolean;
}

/** Collects what was measured, beside its goal, and prints it as it comes. */
export class Report {
  private readonly rows: Row[] = [];
  private readonly began = Date.now();

  /** Prints a line with the seconds since the start. */
  say(text: string): void {
    console.log(`${((Date.now() - this.began) / 1_000).toFixed(1).padStart(7)} s  ${text}`);
  }

  add(what: string, found: string, goal: string, holds: boolean): void {
    this.rows.push({ what, found, goal, holds });
    this.say(`${holds ? 'ok  ' : 'FAIL'}  ${what}: ${found} (goal: ${goal})`);
  }

  /** Runs a check; one that throws is a failed row. */
  async check(name: string, work: () => Promise<void>): Promise<void> {
    this.say(`--- ${name}`);
    try {
      await work();
    } catch (error) {
      this.add(name, String((error as Error).message).slice(0, 500), 'runs to its end', false);
    }
  }

  get failed(): boolean {
    return this.rows.some(({ holds }) => !holds);
  }

  /** Everything as a table in Markdown, for a report. */
  table(): string {
    const lines = this.rows.map(
      ({ what, found, goal, holds }) => `| ${what} | ${found} | ${goal} | ${holds ? 'yes' : '**no**'} |`,
    );
    return ['| what | found | goal | holds |', '|---|---|---|---|', ...lines].join('\n');
  }
}
