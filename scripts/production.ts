import { parseArgs } from 'node:util';
import { explainArguments } from './admin/explain-failures.js';
import { checkAlerts } from './production/alerts.js';
import { checkDashboard } from './production/dashboard.js';
import { prepareEngine } from './production/engine.js';
import { checkFailover } from './production/failover.js';
import { checkLosses } from './production/losses.js';
import { checkPitr } from './production/pitr.js';
import { OUTAGES } from './production/outages.js';
import { Report } from './production/report.js';
import { checkRestore } from './production/restore.js';
import { checkSmoke } from './production/smoke.js';
import { checkTelemetry } from './production/telemetry.js';
import { createStack, findStack, type Stack } from './production/stack.js';
import { checkUpgrade } from './production/upgrade.js';

const USAGE = `Proves an installation in containers: brings docker-compose.yml up, uses it, breaks it, upgrades it, restores it, and prints a table.

  npm run production                     every check
    --only smoke,alerts                  some of them: smoke, dashboard, upgrade, restore, alerts, pitr, losses, failover,
                                         telemetry
    --alerts AssentServerErrors          of the alerts, these only
    --keep                               leaves the containers running
    --again                              uses the installation that --keep left

With a Docker Engine the official images are pulled. Without one, on a Debian machine as root, Podman is installed from Debian's packages and
stand-ins of the images are built from the registries of Debian, Go and npm, once a machine: it prints what it installs. The installation has a
directory of its own, with secrets of its own. Ends with 1 when a check fails.`;

/** In this order: each leaves what the next one needs. */
const CHECKS: Record<string, (stack: Stack, report: Report) => Promise<void>> = {
  smoke: checkSmoke,
  dashboard: checkDashboard,
  upgrade: checkUpgrade,
  restore: checkRestore,
  alerts: (stack, report) => checkAlerts(stack, report, values.alerts?.split(',')),
  pitr: checkPitr,
  losses: checkLosses,
  failover: checkFailover,
  telemetry: checkTelemetry,
};

explainArguments(USAGE);
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    alerts: { type: 'string' },
    keep: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const names = values.only?.split(',') ?? Object.keys(CHECKS);
/** Looked for before anything starts: a run replaces the installation of the one before, and would check nothing. */
const unknown = [
  ...names.filter((name) => !Object.hasOwn(CHECKS, name)),
  ...(values.alerts?.split(',') ?? []).filter((name) => OUTAGES.every(({ alert }) => alert !== name)),
];
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) console.error(`Unknown: ${unknown.join(', ')}\n`);
  console.error(USAGE);
  process.exit(values.help ? 0 : 2);
}

const report = new Report();
const engine = await prepareEngine();
const stack = values.again ? findStack(engine) : await createStack(engine, report);
try {
  for (const name of names) await report.check(name, () => (CHECKS[name] as (typeof CHECKS)[string])(stack, report));
} finally {
  if (!values.keep) await stack.remove();
  engine.stop();
}
console.log(report.table());
process.exit(report.failed ? 1 : 0);
