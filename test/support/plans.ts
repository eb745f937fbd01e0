import pg from 'pg';
import type { SentStatement } from './statements.js';

/** A step of a plan as EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) tells it. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Loops'?: number;
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

/** The step and all below it. */
export const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** A value as PostgreSQL reads it from text. */
const toText = (value: unknown): string => {
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return Array.isArray(value) ? `{${value.map((part) => JSON.stringify(toText(part))).join(',')}}` : String(value);
};
const literal = (value: unknown): string => (value === null ? 'null' : pg.escapeLiteral(toText(value)));

/** Runs of a prepared statement until its connection keeps one plan: five with plans of their own, then the choice. */
const SETTLING = 7;

/** The plan that a connection settles on, as it was run once more. What the runs write is undone. */
export async function explain(url: string, { name, text, values }: SentStatement): Promise<PlanNode> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query('begin');
    for (let run = 0; run < SETTLING; run += 1) await client.query({ name, text, values });
    const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
    const { rows } = await client.query(`explain (analyze, buffers, format json) execute ${name}${given}`);
    await client.query('rollback');
    return rows[0]['QUERY PLAN'][0].Plan as PlanNode;
  } finally {
    await client.end();
  }
}
