/** Says how many tasks were canceled, or are duplicates, where only completed ones were asked for; empty for none. */
export function droppedWords(tasks: readonly { resolution?: string | null }[]): string {
  const of = (resolution: string): number => tasks.filter((task) => task.resolution === resolution).length;
  const [canceled, duplicates] = [of('canceled'), of('duplicate')];
  const parts = [
    ...(canceled > 0 ? [`${canceled} canceled`] : []),
    ...(duplicates > 0 ? [`${duplicates} closed as ${duplicates === 1 ? 'a duplicate' : 'duplicates'}`] : []),
  ];
  return parts.length === 0 ? '' : `Not counted as done: ${parts.join(' and ')}.`;
}
