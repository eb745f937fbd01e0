import { parseArgs } from 'node:util';
import { checkInstallation } from './chaos/check.js';
import { allHold, verdictTable } from './chaos/report.js';

const USAGE = `Judges the invariants of an installation: whatever was killed when, they hold at any quiet moment.

  npm run chaos -- --check                  of the installation that DATABASE_URL names, or that runs in this checkout
  npm run chaos -- --check --ledger FILE    and what was acknowledged, as a run with --keep has left it`;

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, ledger: { type: 'string' }, help: { type: 'boolean', default: false } },
});
if (values.help || !values.check) {
  console.log(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else {
  const verdicts = await checkInstallation(process.env, values.ledger);
  for (const line of verdictTable(verdicts)) console.log(line);
  process.exitCode = allHold(verdicts) ? 0 : 1;
}
