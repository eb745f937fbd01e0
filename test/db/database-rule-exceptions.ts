/** Files that use `raw` outside migrations. This list may only shrink. */
export const RAW: string[] = [];

/** Files that build queries with knex instead of a model. This list may only shrink. */
export const KNEX_QUERIES: string[] = [];

/** Files other than .sql.ts with a statement of more than ten lines. This list may only shrink. */
export const LONG_STATEMENTS: string[] = [];
