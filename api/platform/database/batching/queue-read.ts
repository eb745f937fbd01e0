/** The end of the last read of each lane. Two, because one PostgreSQL process writes JSON on one core. */
const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
let reads = 0;

/**
 * Runs the further reads of all long lists of this process two at a time, so that eight readers hold up others little more than one. A list's
 * first read does not wait here. Rejects as `read` does.
 */
export function queueRead<Result>(read: () => Promise<Result>): Promise<Result> {
  const lane = reads++ % lanes.length;
  const result = (lanes[lane] as Promise<unknown>).then(read);
  lanes[lane] = result.catch(() => undefined);
  return result;
}
