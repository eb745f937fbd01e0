/** Output of `npm start`: a line per step with its time, then one screen. Plain lines without a terminal. */

const color = process.stdout.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
const paint = (code) => (text) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
const bold = paint(1);
const dim = paint(2);
const green = paint(32);
const red = paint(31);
const cyan = paint(36);
const TICK_MS = 250;
const SLOW_MS = 800;

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/**
 * Prints steps as they end. On a terminal a last line shows what is still under way once it takes long.
 * @param {{stream: NodeJS.WriteStream}} options where the lines go (stderr with --json)
 */
export function createSteps({ stream }) {
  const running = new Map();
  const live = stream.isTTY === true;
  let shown = false;
  const clear = () => {
    if (shown) stream.write('\r\u001b[K');
    shown = false;
  };
  const line = (text) => {
    clear();
    stream.write(`${text}\n`);
  };
  const showRunning = () => {
    const slow = [...running].filter(([, since]) => Date.now() - since > SLOW_MS);
    clear();
    if (slow.length === 0) return;
    stream.write(
      dim(`  … ${slow.map(([label, since]) => `${label} (${Math.round((Date.now() - since) / 1000)} s)`).join(', ')}`),
    );
    shown = true;
  };
  const ticker = live ? setInterval(showRunning, TICK_MS) : null;
  ticker?.unref();

  /**
   * Runs one step and prints its line.
   * @template T
   * @param {string} label
   * @param {() => Promise<T>} work
   * @param {(result: T) => string} [describe] says more about the result, after the label
   * @returns {Promise<T>}
   */
  const step = async (label, work, describe = () => '') => {
    const since = Date.now();
    running.set(label, since);
    try {
      const result = await work();
      running.delete(label);
      const more = describe(result);
      line(`  ${green('✓')} ${`${label}${more && ` ${dim(more)}`}`}  ${dim(seconds(Date.now() - since))}`);
      return result;
    } catch (error) {
      running.delete(label);
      line(`  ${red('✗')} ${label}  ${dim(seconds(Date.now() - since))}`);
      throw error;
    }
  };
  const say = (text) => line(`  ${dim('·')} ${text}`);
  /** Reports progress where no counter on the last line shows it. */
  const still = (text) => {
    if (!live) say(text);
  };
  const end = () => {
    clearInterval(ticker);
    running.clear();
    clear();
  };
  return { step, say, still, line, end };
}

/**
 * The facts of a running service, as printed by --json and shown on the screen.
 * @typedef {object} Facts
 * @property {string} name
 * @property {string} version
 * @property {number} ready_ms
 * @property {string} app for example http://localhost:3000/app
 * @property {string} api for example http://localhost:3000/api
 * @property {Record<string, string>} docs
 * @property {string | null} mailbox null where mails go to a mail server
 * @property {string} ops base address of /livez, /readyz, /metrics
 * @property {string | null} temporal_ui
 * @property {string} temporal_address
 * @property {string} database address without the password
 * @property {string | null} password_file where the embedded PostgreSQL's password lies; null with DATABASE_URL
 * @property {string} data_dir
 * @property {{accounts: {email: string, role: string}[], password: string, token: string} | null} demo
 */

/** Width of a value beside its label on an 80-column terminal. */
const VALUE_WIDTH = 67;

/** Accounts with their roles, as many to a line as fit. */
function accountLines(accounts) {
  const lines = [];
  let used = VALUE_WIDTH;
  for (const { email, role } of accounts) {
    const width = `  ${email} ${role}`.length;
    if (used + width > VALUE_WIDTH) {
      lines.push([]);
      used = -2;
    }
    lines.at(-1).push(`${email} ${dim(role)}`);
    used += width;
  }
  return lines.map((line) => line.join('  '));
}

const row = (label, value, note = '') => `  ${bold(label.padEnd(10))} ${value}${note && `   ${dim(note)}`}`;

/**
 * Returns the demo's accounts and first steps. The example call uses two lines: a token is long, and a shell continues after `\`.
 */
function demoLines({ accounts, password, token }, { app, api }) {
  return [
    ...accountLines(accounts).map((line, i) => row(i === 0 ? 'Accounts' : '', line)),
    row('Password', password, 'of every demo account'),
    row('Token', token, 'full access'),
    '',
    row('Try', `curl ${api.replace(/^http:\/\//, '')}/auth/me \\`),
    row('', `--oauth2-bearer ${token}`),
    row('Next', cyan(`${app}/approvals`), 'pending approvals'),
    row('', bold('npm run demo'), 'a merge waits for approval and closes its task'),
  ];
}

/**
 * The one screen. It fits 80 columns: what a terminal breaks in the middle of a word nobody can read or copy.
 * @param {Facts} facts
 * @returns {string[]} lines
 */
export function screen(facts) {
  const origin = facts.api.replace(/\/api$/, '');
  const title = `  ${bold(`${facts.name} ${facts.version}`)}   ${green(`ready in ${seconds(facts.ready_ms)}`)}`;
  const lines = ['', `${title}   ${dim(`data: ${facts.data_dir} (npm run reset to wipe)`)}`, ''];
  lines.push(row('App', cyan(facts.app), 'approve and inspect runs'));
  lines.push(row('API', cyan(facts.api), `health ${facts.ops}/readyz`));
  lines.push(row('Docs', cyan(facts.docs.swagger), `${facts.docs.redoc}  ·  ${facts.docs.openapi}`.replaceAll(origin, '')));
  if (facts.mailbox) lines.push(row('Mailbox', cyan(facts.mailbox), 'captured emails'));
  lines.push(
    facts.temporal_ui
      ? row('Workflows', cyan(facts.temporal_ui), 'Temporal UI')
      : row('Workflows', facts.temporal_address, 'Temporal'),
  );
  lines.push(row('Postgres', facts.database));
  if (facts.password_file) lines.push(row('', dim(`its password is in ${facts.password_file}`)));
  if (facts.demo) lines.push(...demoLines(facts.demo, facts));
  lines.push('', dim(`  Ctrl-C stops everything. Logs: ${facts.data_dir}/logs/`), '');
  return lines;
}
