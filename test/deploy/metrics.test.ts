import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { createDatabaseGauges } from '../../api/platform/telemetry/gauges/collect-gauges.js';
import { DATABASE_GAUGES, type DatabaseGauge, MAX_ROWS } from '../../api/platform/telemetry/gauges/database-gauges.js';
import { startApp, type TestApp } from '../support/app.js';
import { queuePrefix, until } from '../support/worker.js';
import { namesIn, type Scrapes, startScraped } from './scrape.js';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}
interface Panel {
  id: number;
  type: string;
  title: string;
  targets?: { expr: string }[];
}
const { groups } = parse(read('deploy/prometheus/assent.rules.yml')) as { groups: { rules: Alert[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);
const { panels } = JSON.parse(read('deploy/grafana/assent.json')) as { panels: Panel[] };
const expressions = [
  ...alerts.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [`panel ${title}`, expr] as const)),
];

/** The names of the metrics in an expression. @throws Error where it does not parse */
function listMetrics(expression: string): string[] {
  const names: string[] = [];
  parser.parse(expression).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`no PromQL at character ${node.from}: ${expression}`);
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector')
        names.push(expression.slice(node.from, node.to));
    },
  });
  return names;
}

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
});
afterAll(() => app.close());

/** A row that nobody hands over before the year is out. */
const waiting = (kind: string) => `insert into outbox (kind, subject, correlation_id, next_attempt_at)
  select '${kind}', 'x', uuidv7(), now() + interval '1 year'`;

describe('a scrape', () => {
  let scrapes: Scrapes;
  beforeAll(async () => {
    await app.services.db.raw(waiting('test'));
    scrapes = await startScraped(app);
  }, 180_000);
  afterAll(async () => {
    await scrapes.close();
    await app.services.db('outbox').delete();
  });

  it.each(expressions)('%s reads what there is', (_where, expression) => {
    const names = listMetrics(expression);
    expect(names.length).toBeGreaterThan(0);
    // `up` is Prometheus's own.
    const there = new Set([...namesIn(scrapes.api), ...namesIn(scrapes.worker), 'up']);
    expect(names.filter((name) => !there.has(name))).toEqual([]);
  });

  it('of both processes contains every gauge of the database; the worker’s contains the metrics of Temporal’s SDK', () => {
    for (const text of [scrapes.api, scrapes.worker]) {
      expect(DATABASE_GAUGES.filter(({ name }) => !namesIn(text).has(name))).toEqual([]);
      expect(text).toMatch(/^assent_database_gauges_success 1$/m);
      expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
      expect(text).toMatch(/^database_pool_connections\{pool="assent-(api|worker)",state="size"\} 8$/m);
    }
    expect([...namesIn(scrapes.worker)].filter((name) => name.startsWith('temporal_')).length).toBeGreaterThan(10);
    expect(scrapes.worker).toMatch(/^# TYPE temporal_request_latency_seconds histogram$/m);
  });

  it('measures time in seconds, declares each metric once, and has no id in a label', () => {
    for (const text of [scrapes.api, scrapes.worker]) {
      const declared = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string);
      expect(declared.filter((name, place) => declared.indexOf(name) !== place)).toEqual([]);
      expect(declared.filter((name) => /_(ms|millis\w*)$/.test(name))).toEqual([]);
      expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
    }
  });
});

describe('every alert', () => {
  it.each(alerts)('$alert has a severity, a summary and a page', ({ alert, labels, annotations }) => {
    expect(['critical', 'warning']).toContain(labels.severity);
    expect(annotations.summary).toBeTruthy();
    expect(annotations.runbook_url).toBe(`docs/operate/alerts/${alert}.md`);
    expect(read(annotations.runbook_url)).toMatch(new RegExp(`^# ${alert}\n\n.{40,}\n[^]*## Act\n\n`));
  });

  it('is in the list of pages, and no page is without its alert', () => {
    const names = alerts.map(({ alert }) => alert);
    const listed = [...read('docs/operate/alerts/README.md').matchAll(/^\| \[(\w+)\]/gm)].map(([, name]) => name as string);
    const pages = readdirSync(new URL('../../docs/operate/alerts', import.meta.url));
    expect(listed).toEqual(names);
    expect(pages.toSorted()).toEqual([...names, 'README'].map((name) => `${name}.md`).toSorted());
  });
});

it('the panels of the dashboard have numbers of their own', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});

describe('the gauges of the database', () => {
  /** Two scrapes, the first once it has what is wanted: on a busy machine an early one has a part of it. */
  const collect = async (url: string, wanted: RegExp, gauges?: readonly DatabaseGauge[]): Promise<[string, string]> => {
    const source = createDatabaseGauges(url, gauges);
    try {
      const first = await until(async () => {
        const text = await source.collect();
        return wanted.test(text) && text;
      });
      return [first, await source.collect()];
    } finally {
      await source.close();
    }
  };
  const gauge = (name: string, sql: string, labels: string[] = []): DatabaseGauge => ({ name, help: name, labels, sql });

  it('count to an end, whatever one team has piled up', async () => {
    const { db } = app.services;
    await db.raw(`${waiting('pile')} from generate_series(1, ${MAX_ROWS + 500})`);
    const [text] = await collect(app.database.url, /^assent_database_gauges_success 1$/m);
    await db('outbox').delete();
    expect(text).toMatch(new RegExp(`^assent_outbox_rows\\{kind="pile"\\} ${MAX_ROWS}$`, 'm'));
  });

  it('show a mail as overdue since its creation, however often it is tried in vain', async () => {
    const { db } = app.services;
    await db.raw(`insert into mails (recipient, template, correlation_id, attempts, created_at, next_attempt_at)
      values ('a@assent.test', 'notice', uuidv7(), 5, now() - interval '10 minutes', now() + interval '1 minute')`);
    const [text] = await collect(app.database.url, /^assent_database_gauges_success 1$/m);
    await db('mails').delete();
    expect(Number(/^assent_mails_overdue_seconds (\S+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(600);
    const [after] = await collect(app.database.url, /^assent_database_gauges_success 1$/m);
    expect(after).toMatch(/^assent_mails_overdue_seconds 0$/m);
  });

  it('are read once for scrapes that follow each other', async () => {
    await app.services.db.raw('create sequence rounds');
    const texts = await collect(app.database.url, /^rounds \d+$/m, [gauge('rounds', `select nextval('rounds')::int as value`)]);
    expect(texts.map((text) => /^rounds (\d+)$/m.exec(text)?.[1])).toEqual(['1', '1']);
  });

  it('one that takes too long or fails is left out and told; the others have their values', async () => {
    const gauges = [
      gauge('slow', 'select 1 as value from pg_sleep(30)'),
      gauge('wrong', 'select nothing'),
      gauge('well', `select 'a "b"' as kind, 7 as value`, ['kind']),
    ];
    const [text] = await collect(app.database.url, /^well\{/m, gauges);
    expect(text).toMatch(/^well\{kind="a \\"b\\""\} 7$/m);
    expect(text).toMatch(/^assent_database_gauges_success 0$/m);
    expect([...namesIn(text)].toSorted()).toEqual(['assent_database_gauges_success', 'well']);
  });

  it('are missing, and said to be, while PostgreSQL is away; the scrape still ends', async () => {
    const [text] = await collect('postgres://nobody@127.0.0.1:1/none', /^assent_database_gauges_success 0$/m);
    expect([...namesIn(text)]).toEqual(['assent_database_gauges_success']);
  });
});
