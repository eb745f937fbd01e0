import { ENDPOINTS } from '../../../api/http/router.js';
import { PAGES } from '../../../api/web/pages.js';

/** Functions that a handler calls with its context: the operations. */
const operationsOf = ({ handle }: { handle: unknown }): string[] =>
  [...String(handle).matchAll(/\b(\w+)\)?\(\s*ctx\b/g)].map(([, name]) => name as string);

const limitsByOperation = new Map<string, Set<string | undefined>>();
for (const endpoint of ENDPOINTS) {
  for (const name of operationsOf(endpoint)) {
    limitsByOperation.set(name, (limitsByOperation.get(name) ?? new Set()).add(endpoint.limit));
  }
}

describe('limits of forms', () => {
  it('reads the operations of routes and pages', () => {
    expect([...(limitsByOperation.get('confirmPlan') ?? [])]).toEqual(['ai_confirm', 'ai_confirm_action']);
    expect(PAGES.filter((page) => operationsOf(page).includes('confirmPlan'))).toHaveLength(2);
  });

  it('are those of the route that calls the same operation', () => {
    const wrong = PAGES.filter(({ method }) => method === 'post').flatMap((page) =>
      operationsOf(page).flatMap((name) => {
        const limits = limitsByOperation.get(name) ?? new Set([page.limit]);
        return limits.has(page.limit) ? [] : [`${page.path} calls ${name}: add limit: '${[...limits].join("' or '")}'`];
      }),
    );
    expect(wrong).toEqual([]);
  });
});
