import { namesIn } from '../../../api/integrations/forge/links/named-in-delivery.js';
import { branchName } from '../../../api/web/wording/branch-name.js';

it.each([
  ['Fix the crane', 'har-12-fix-the-crane'],
  ['  “Größe”: ändern, now & here!', 'har-12-grosse-andern-now-here'],
  ['修理', 'har-12'],
  ['../../x; rm -rf $(y)', 'har-12-x-rm-rf-y'],
  ['word '.repeat(40), `har-12${'-word'.repeat(10)}`],
  ['x'.repeat(200), `har-12-${'x'.repeat(53)}`],
])('%j becomes %j', (title, branch) => {
  expect(branchName('HAR-12', title)).toBe(branch);
});

it('a pull request from the branch names the task', () => {
  expect(namesIn('', branchName('HAR-12', 'Fix the crane'), '')).toMatchObject([{ key: 'HAR', number: 12 }]);
});
