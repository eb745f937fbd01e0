import { setTimeout as sleep } from 'node:timers/promises';
import { createCall, openGates, type User } from './caller.js';
import { NOT_PROVOKED, type Outage, OUTAGES } from './outages.js';
import { getUser } from './smoke.js';
import type { Report } from './report.js';
import { until } from './shell.js';
import type { Stack } from './stack.js';

/** Within which queued runs go on after Temporal is back, s. */
const RETURN_SECONDS = 5;

interface Rule {
  name: string;
  labels: { severity?: string };
}
interface Alert {
  labels: { alertname: string; severity: string };
  state: string;
}

const listFiring = async (stack: Stack): Promise<Alert[]> => {
  const { alerts } = await createCall(stack.prometheusUrl)<{ alerts: Alert[] }>('GET', '/api/v1/alerts');
  return alerts.filter(({ state }) => state === 'firing');
};
const namesOf = (alerts: readonly Alert[]): string[] => [...new Set(alerts.map(({ labels }) => labels.alertname))];

/** Every critical alert is provoked, or said not to be. */
async function checkCoverage(stack: Stack, report: Report): Promise<void> {
  const { groups } = await createCall(stack.prometheusUrl)<{ groups: { rules: Rule[] }[] }>('GET', '/api/v1/rules');
  const critical = groups.flatMap(({ rules }) =>
    rules.filter(({ labels }) => labels.severity === 'critical').map(({ name }) => name),
  );
  const known = new Set([...OUTAGES.map(({ alert }) => alert), ...Object.keys(NOT_PROVOKED)]);
  const missing = critical.filter((name) => !known.has(name));
  for (const [name, reason] of Object.entries(NOT_PROVOKED)) report.say(`${name} is not provoked: ${reason}`);
  const found = `${critical.length} rules, not provoked: ${[...missing, ...Object.keys(NOT_PROVOKED)].join(', ') || 'none'}`;
  report.add('critical alerts', found, 'all provoked but those with a reason', critical.length > 0 && missing.length === 0);
}

/** Something to do for each part, so that its outage is noticed by what waits. */
async function causeWork(user: User, stack: Stack): Promise<void> {
  await user.call('POST', '/api/tasks', { title: 'gated by an outage', project_id: user.projectId }).catch(() => undefined);
  const address = `someone-${Date.now()}@example.com`;
  await user.call('POST', `/api/teams/${user.teamId}/invitations`, { email: address, role: 'member' }).catch(() => undefined);
  await createCall(stack.url)('POST', '/api/auth/password/forgot', { email: user.email }).catch(() => undefined);
}

/** Repeats what an outage needs until its alert fires. Returns the seconds. */
async function waitForAlert(stack: Stack, user: User, { alert, seconds, meanwhile }: Outage): Promise<number> {
  const [, passed] = await until(`${alert} fires`, seconds * 2, async () => {
    await meanwhile?.(user).catch(() => undefined);
    await sleep(500);
    return (await listFiring(stack)).some(({ labels }) => labels.alertname === alert);
  });
  return passed;
}

const listCritical = async (stack: Stack): Promise<string[]> =>
  namesOf((await listFiring(stack)).filter(({ labels }) => labels.severity === 'critical'));

async function checkOutage(stack: Stack, report: Report, user: User, outage: Outage): Promise<void> {
  const { what, alert, seconds } = outage;
  await until('no critical alert fires', 600, async () => (await listCritical(stack)).length === 0);
  await outage.begin(stack);
  try {
    await causeWork(user, stack);
    const passed = await waitForAlert(stack, user, outage);
    await sleep(20_000);
    const others = (await listCritical(stack)).filter((name) => name !== alert);
    report.add(`${alert} after ${what}`, `${Math.round(passed)} s`, `${seconds} s`, passed <= seconds);
    report.add(`other critical alerts after ${what}`, others.join(', ') || 'none', 'none', others.length === 0);
  } finally {
    await outage.end(stack);
  }
  if (alert === 'AssentTemporalUnreachable') await checkReturn(stack, report);
}

/** After Temporal is back every run that waited has begun. */
async function checkReturn(stack: Stack, report: Report): Promise<void> {
  const [, seconds] = await until('queued runs begin', 120, async () => {
    const [queued] = await stack.sql("select count(*) from automation_runs where status = 'queued'");
    return queued === '0';
  });
  report.add(
    'queued runs go on after Temporal is healthy again',
    `${seconds.toFixed(1)} s`,
    `${RETURN_SECONDS} s`,
    seconds <= RETURN_SECONDS,
  );
}

/**
 * Lets one part after the other fail: the alert meant for it fires in time, and no other critical one.
 * @param names alerts to provoke; without any, all of them
 */
export async function checkAlerts(stack: Stack, report: Report, names: readonly string[] = []): Promise<void> {
  const user = await getUser(stack);
  await openGates(user, 1);
  await checkCoverage(stack, report);
  for (const outage of OUTAGES.filter(({ alert }) => names.length === 0 || names.includes(alert)))
    await report.check(outage.alert, () => checkOutage(stack, report, user, outage));
}
