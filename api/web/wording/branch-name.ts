const MAX_LENGTH = 60;

/**
 * Returns the name of a branch for a task, `har-12-fix-the-crane`: a pull request from it links itself to the task. At most 60 characters of
 * ASCII, cut between words where it can be; letters that have no ASCII form are left out.
 */
export function branchName(taskName: string, title: string): string {
  const name = taskName.toLowerCase();
  const words = title
    // A title has at most 200 characters.
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  let branch = name;
  for (const word of words ?? []) {
    if (branch.length + 1 + word.length > MAX_LENGTH) return branch === name ? `${name}-${word}`.slice(0, MAX_LENGTH) : branch;
    branch += `-${word}`;
  }
  return branch;
}
