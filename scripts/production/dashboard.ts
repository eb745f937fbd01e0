import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { createCall } from './caller.js';
import type { Report } from './report.js';
import { until } from './shell.js';
import type { Stack } from './stack.js';

/** Selectors that have no series while all is well, and why. Everything else in a panel or a rule has data after the smoke. */
const MAY_BE_EMPTY: Readonly<Record<string, string>> = {
  'http_request_duration_seconds_count{status=~"5.."}': 'no request has failed',
  assent_outbox_age_seconds: 'nothing waits in the outbox',
  assent_outbox_rows: 'nothing waits in the outbox',
  agent_model_errors_total: 'no model is configured',
  webhook_attempts_total: 'the smoke registers no webhook',
};
/** Prometheus's own. */
const OWN = new Set(['up']);
/** Two scrapes, so that rates have data, s. */
const SCRAPED_SECONDS = 120;

interface Expression {
  where: string;
  text: string;
}
interface Selector {
  metric: string;
  text: string;
}

/** Returns the selectors of an expression, without their ranges. @throws Error where it is no PromQL */
function listSelectors(expression: string): Selector[] {
  const selectors: Selector[] = [];
  parser.parse(expression).iterate({
    enter({ type, name, node, from, to }) {
      if (type.isError) throw new Error(`no PromQL at character ${from}: ${expression}`);
      if (name !== 'VectorSelector') return;
      const metric = node.getChild('Identifier');
      if (!metric) throw new Error(`a selector without a name at character ${from}: ${expression}`);
      selectors.push({ metric: expression.slice(metric.from, metric.to), text: expression.slice(from, to) });
    },
  });
  return selectors;
}

/** Returns the expressions of the dashboard, as its panels have them. */
function listPanels(stack: Stack): Expression[] {
  const { panels } = JSON.parse(readFileSync(join(stack.dir, 'deploy/grafana/assent.json'), 'utf8')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: `panel ${title}`, text: expr })));
}

interface Rules {
  groups: { rules: { name: string; query: string; health: string; lastError?: string }[] }[];
}

/** Returns what `look` lists once that is nothing, or what it still lists when the scrapes would have been made. */
async function settled(look: () => Promise<string[]>): Promise<string[]> {
  await until('nothing is missing', SCRAPED_SECONDS, async () => (await look()).length === 0).catch(() => undefined);
  return look();
}

/**
 * Evaluates every panel and every rule in the Prometheus of the installation. A panel must have data, a rule must have something to compare,
 * and each metric must be one that a process exports.
 */
export async function checkDashboard(stack: Stack, report: Report): Promise<void> {
  const call = createCall(stack.prometheusUrl);
  const hasData = async (query: string): Promise<boolean> =>
    (await call<{ result: unknown[] }>('GET', `/api/v1/query?query=${encodeURIComponent(query)}`)).result.length > 0;
  const { groups } = await call<Rules>('GET', '/api/v1/rules');
  const rules = groups.flatMap((group) => group.rules);
  const unwell = rules.filter(({ health }) => health !== 'ok').map(({ name, lastError }) => `${name} ${lastError}`);
  report.add(
    'rules that Prometheus evaluates',
    unwell.join() || `${rules.length}`,
    'all',
    unwell.length === 0 && rules.length > 0,
  );

  const panels = listPanels(stack);
  const expressions = [...panels, ...rules.map(({ name, query }) => ({ where: `alert ${name}`, text: query }))];
  const selectors = expressions.flatMap(({ where, text }) => listSelectors(text).map((selector) => ({ where, ...selector })));
  const findUnknown = async (): Promise<string[]> => {
    // The types that processes declare, also of counters that have not counted anything yet.
    const exported = new Set([...OWN, ...Object.keys(await call<object>('GET', '/api/v1/metadata'))]);
    const isKnown = (metric: string): boolean => exported.has(metric) || exported.has(metric.replace(/_(bucket|count|sum)$/, ''));
    return [...new Set(selectors.filter(({ metric }) => !isKnown(metric)).map(({ where, metric }) => `${metric} (${where})`))];
  };
  const mayBeEmpty = (text: string): boolean =>
    listSelectors(text).some((selector) => Object.hasOwn(MAY_BE_EMPTY, selector.text));
  const required = [...panels, ...selectors].filter(({ text }) => !mayBeEmpty(text));
  const excused = [...panels, ...selectors].length - required.length;
  const findEmpty = async (): Promise<string[]> => {
    const found = await Promise.all(
      required.map(async ({ where, text }) => ((await hasData(text)) ? [] : [`${where}: ${text}`])),
    );
    return found.flat();
  };
  const unknown = await settled(findUnknown);
  report.add('metrics that no process exports', unknown.join(', ') || 'none', 'none', unknown.length === 0);
  const empty = await settled(findEmpty);
  report.add(
    `expressions of ${panels.length} panels and ${rules.length} rules with data`,
    empty.length === 0 ? `${required.length}, ${excused} may be empty` : `none: ${empty.join('; ')}`,
    'all that may not be empty',
    empty.length === 0,
  );
}
