import { decidePlaces, MAX_SHIFTED, type Placed } from '../../../../api/work/tasks/order/rules.js';

const row = (task_id: string, place: number): Placed => ({ task_id, place });

describe('places in the manual order', () => {
  it('is one number between two, and one beyond each end', () => {
    expect(decidePlaces('x', 1, [row('b', 2)])).toEqual([row('x', 1.5)]);
    expect(decidePlaces('x', 7, [])).toEqual([row('x', 8)]);
    expect(decidePlaces('x', undefined, [row('a', 3)])).toEqual([row('x', 2)]);
    expect(decidePlaces('x', undefined, [])).toEqual([row('x', 0)]);
  });

  it('moves the fewest tasks behind it where no number is left', () => {
    const next = [row('b', 1), row('c', 1), row('d', 2)];
    const places = decidePlaces('x', 1, next) ?? [];
    expect(places.map(({ task_id }) => task_id)).toEqual(['x', 'b', 'c']);
    const numbers = [1, ...places.map(({ place }) => place), 2];
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('fits thousands of moves between two tasks of one microsecond, and shifts few each time', () => {
    let low = 28_512_345.000001;
    const others = Array.from({ length: 40 }, (_, at) => row(`t${at}`, low + (at + 1) * 0.000001));
    for (let move = 0; move < 2_000; move += 1) {
      const places = decidePlaces('x', low, others) as Placed[];
      expect(places.length).toBeLessThanOrEqual(MAX_SHIFTED + 1);
      for (const { task_id, place } of places.slice(1)) (others.find((one) => one.task_id === task_id) as Placed).place = place;
      low = (places[0] as Placed).place;
      if (places.length > 1) low = places[0]?.place ?? low;
      if (move % 2 === 0) low = 28_512_345.000001;
    }
    const numbers = others.map(({ place }) => place);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  it('makes a difference beside numbers that no other program would give, or refuses', () => {
    for (const place of [2 ** 53, 1.7e18, -1.7e18, 1e300, -1e300]) {
      expect(decidePlaces('x', undefined, [row('a', place)])?.[0]?.place).toBeLessThan(place);
      expect(decidePlaces('x', place, [])?.[0]?.place).toBeGreaterThan(place);
    }
    expect(decidePlaces('x', undefined, [row('a', -Number.MAX_VALUE)])).toBeUndefined();
    expect(decidePlaces('x', Number.MAX_VALUE, [])).toBeUndefined();
  });

  it('refuses where more tasks than it may move share one place', () => {
    const next = Array.from({ length: MAX_SHIFTED + 1 }, (_, at) => row(`t${at}`, 5));
    expect(decidePlaces('x', 5, next)).toBeUndefined();
  });
});
