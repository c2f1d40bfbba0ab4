/** Draws growth curves as an SVG picture: both axes are logarithmic, so that a straight line of slope 1 is linear growth. */

const WIDTH = 860;
const HEIGHT = 480;
const LEFT = 60;
const RIGHT = 300;
const TOP = 30;
const BOTTOM = 45;
/** Of one lightness, so that they are told apart on white and on black. */
const COLOURS = ['#d9480f', '#1971c2', '#2f9e44', '#9c36b5', '#e8590c', '#0c8599', '#5f3dc4', '#66a80f', '#c2255c'];
const DASHES = ['', '6 3', '2 3'];

/** Each curve is drawn relative to its first point: the pictures of milliseconds and of bytes then share an axis. */
export function curvePicture(curves) {
  const drawn = curves.map(relative);
  const xs = drawn.flatMap(({ points }) => points.map(({ x }) => x));
  const ys = drawn.flatMap(({ points }) => points.map(({ y }) => y));
  const place = placing({
    left: Math.min(...xs),
    right: Math.max(...xs),
    low: Math.min(...ys, 0),
    high: Math.max(...ys, 1),
  });
  const parts = [...grid(place), ...linear(place), ...drawn.flatMap((curve, index) => lineOf(curve, index, place))];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">`,
    '<title>How costs grow</title>',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function relative({ name, exponent, points }) {
  const [first] = points;
  const log = (value) => Math.log10(value);
  return { name, exponent, points: points.map(({ count, cost }) => ({ x: log(count), y: log(cost / first.cost) })) };
}

function placing({ left, right, low, high }) {
  const across = (WIDTH - LEFT - RIGHT) / (right - left);
  const up = (HEIGHT - TOP - BOTTOM) / (high - low);
  return {
    ...{ left, right, low, high },
    x: (value) => (LEFT + (value - left) * across).toFixed(1),
    y: (value) => (HEIGHT - BOTTOM - (value - low) * up).toFixed(1),
  };
}

function grid({ left, right, low, high, x, y }) {
  const lines = [];
  const text = (at, where, value, anchor) =>
    `<text x="${at}" y="${where}" text-anchor="${anchor}" fill="#495057">${value}</text>`;
  for (let decade = Math.ceil(left); decade <= Math.floor(right); decade++) {
    lines.push(`<path d="M${x(decade)} ${TOP}V${HEIGHT - BOTTOM}" stroke="#e9ecef"/>`);
    lines.push(text(x(decade), HEIGHT - BOTTOM + 16, (10 ** decade).toLocaleString('en'), 'middle'));
  }
  for (let decade = Math.ceil(low); decade <= Math.floor(high); decade++) {
    lines.push(`<path d="M${LEFT} ${y(decade)}H${WIDTH - RIGHT}" stroke="#e9ecef"/>`);
    lines.push(text(LEFT - 6, Number(y(decade)) + 4, `×${(10 ** decade).toLocaleString('en')}`, 'end'));
  }
  lines.push(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, 'how many', 'middle'));
  lines.push(text(LEFT, TOP - 12, 'cost, relative to the first point of each curve', 'start'));
  return lines;
}

/** What linear growth would look like. */
function linear({ left, right, high, x, y }) {
  const end = Math.min(right, left + high);
  return [
    `<path d="M${x(left)} ${y(0)}L${x(end)} ${y(end - left)}" stroke="#adb5bd" stroke-dasharray="1 4" stroke-width="2"/>`,
  ];
}

function lineOf({ name, exponent, points }, index, { x, y }) {
  const colour = COLOURS[index % COLOURS.length];
  const dash = DASHES[Math.floor(index / COLOURS.length) % DASHES.length];
  const path = points.map((point, at) => `${at === 0 ? 'M' : 'L'}${x(point.x)} ${y(point.y)}`).join('');
  const row = TOP + 16 * index + 8;
  const style = `fill="none" stroke="${colour}" stroke-width="2"${dash ? ` stroke-dasharray="${dash}"` : ''}`;
  return [
    `<path d="${path}" ${style}/>`,
    ...points.map((point) => `<circle cx="${x(point.x)}" cy="${y(point.y)}" r="2.5" fill="${colour}"/>`),
    `<path d="M${WIDTH - RIGHT + 20} ${row}h24" ${style}/>`,
    `<text x="${WIDTH - RIGHT + 52}" y="${row + 4}" fill="#212529">${name}: exponent ${exponent.toFixed(2)}</text>`,
  ];
}
