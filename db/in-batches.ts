/**
 * Repeats a deletion until a batch is not full, each batch in its own commit, so that none holds its locks for long. `work` handles at most
 * `size` rows and returns how many it did. Returns their sum.
 */
export async function inBatches(size: number, work: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const done = await work();
    total += done;
    if (done < size) return total;
  }
}
