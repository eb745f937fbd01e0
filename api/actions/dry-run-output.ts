/** What the record of a test run shows of an action: what it would have done (F8). `params` after templates and defaults. */
export const dryRunOutput = (label: string, params: unknown): Record<string, unknown> => ({
  simulated: true,
  would: label,
  params,
});
