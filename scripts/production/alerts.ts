import { setTimeout as sleep } from 'node:timers/promises';
import { createCall, EMAIL, openGates, type User } from './caller.js';
import { getUser } from './smoke.js';
import type { Report } from './report.js';
import { until } from './shell.js';
import type { Stack } from './stack.js';

/** What is stopped, the alert meant for it, and the time within which it fires, s (docs/operate/alerts). */
const OUTAGES = [
  { service: 'temporal', alert: 'AssentTemporalUnreachable', seconds: 60 },
  { service: 'worker', alert: 'AssentWorkerDown', seconds: 120 },
  { service: 'postgres', alert: 'AssentGaugesMissing', seconds: 180 },
  { service: 'mailpit', alert: 'AssentMailsWaiting', seconds: 390 },
] as const;
/** Within which queued runs go on after Temporal is back, s. */
const RETURN_SECONDS = 5;

interface Alert {
  labels: { alertname: string; severity: string };
  state: string;
}

const listFiring = async (stack: Stack): Promise<Alert[]> => {
  const { alerts } = await createCall(stack.prometheusUrl)<{ alerts: Alert[] }>('GET', '/api/v1/alerts');
  return alerts.filter(({ state }) => state === 'firing');
};
const namesOf = (alerts: readonly Alert[]): string[] => [...new Set(alerts.map(({ labels }) => labels.alertname))];

/** Every expression of the rules has data, and Prometheus evaluates all of them. */
async function checkRules(stack: Stack, report: Report): Promise<void> {
  const { groups } = await createCall(stack.prometheusUrl)<{ groups: { rules: { name: string; health: string }[] }[] }>(
    'GET',
    '/api/v1/rules',
  );
  const rules = groups.flatMap((group) => group.rules);
  const unwell = rules.filter(({ health }) => health !== 'ok').map(({ name }) => name);
  report.add(
    'rules that Prometheus evaluates',
    unwell.length === 0 ? `${rules.length}` : unwell.join(', '),
    'all',
    unwell.length === 0,
  );
}

/** Something to do for each part, so that its outage is noticed by what waits. */
async function causeWork(user: User, stack: Stack): Promise<void> {
  await user.call('POST', '/api/tasks', { title: 'gated by an outage', project_id: user.projectId }).catch(() => undefined);
  const address = `someone-${Date.now()}@example.com`;
  await user.call('POST', `/api/teams/${user.teamId}/invitations`, { email: address, role: 'member' }).catch(() => undefined);
  await createCall(stack.url)('POST', '/api/auth/password/forgot', { email: EMAIL }).catch(() => undefined);
}

async function checkOutage(stack: Stack, report: Report, user: User, outage: (typeof OUTAGES)[number]): Promise<void> {
  await until('no critical alert fires', 300, async () =>
    (await listFiring(stack)).every(({ labels }) => labels.severity !== 'critical'),
  );
  await stack.compose(['stop', '--timeout', '5', outage.service]);
  const since = Date.now();
  await causeWork(user, stack);
  const [seconds] = await until(`${outage.alert} fires`, outage.seconds * 2, async () => {
    const fires = namesOf(await listFiring(stack)).includes(outage.alert);
    return fires && (Date.now() - since) / 1_000;
  });
  await sleep(20_000);
  const others = namesOf((await listFiring(stack)).filter(({ labels }) => labels.severity === 'critical')).filter(
    (name) => name !== outage.alert,
  );
  report.add(
    `${outage.alert} after ${outage.service} stopped`,
    `${Math.round(seconds)} s`,
    `${outage.seconds} s`,
    seconds <= outage.seconds,
  );
  report.add(`other critical alerts while ${outage.service} is away`, others.join(', ') || 'none', 'none', others.length === 0);
  await stack.compose(['up', '--detach', '--wait', '--no-recreate', outage.service]);
  if (outage.service === 'temporal') await checkReturn(stack, report);
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

/** Stops one part after the other: the alert meant for it fires in time, and no other critical one. */
export async function checkAlerts(stack: Stack, report: Report): Promise<void> {
  const user = await getUser(stack);
  await openGates(user, 1);
  await checkRules(stack, report);
  for (const outage of OUTAGES) await checkOutage(stack, report, user, outage);
}
