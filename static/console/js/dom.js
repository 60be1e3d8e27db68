// Building the page. Text only ever becomes text; `html` is for what the server has sanitised.

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "text") node.textContent = value;
    else if (name === "html") node.append(fragment(value));
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function fragment(sanitised) {
  const template = document.createElement("template");
  template.innerHTML = sanitised;
  return template.content;
}

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

// Bring `target` to look like `wanted`, touching only the blocks that differ: what is being read,
// selected or scrolled stays where it is.
export function morph(target, wanted) {
  const fresh = [...wanted.childNodes];
  for (let index = 0; index < fresh.length; index += 1) {
    const old = target.childNodes[index];
    if (old === undefined) target.append(fresh[index]);
    else if (!old.isEqualNode(fresh[index])) target.replaceChild(fresh[index], old);
  }
  while (target.childNodes.length > fresh.length) target.lastChild.remove();
}

export const byId = (id) => document.getElementById(id);

export function isComposing(event) {
  return event.isComposing || event.keyCode === 229;
}

// Do `change` inside `root`, and give the focus back to what has the same name then.
export function keepingFocus(root, change) {
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  const name = focused?.dataset.focus;
  const { selectionStart, selectionEnd } = focused ?? {};
  change();
  if (!focused || focused.isConnected) return;
  const again = name ? root.querySelector(`[data-focus="${name}"]`) : null;
  if (!again || again.disabled) root.querySelector(".panel")?.focus({ preventScroll: true });
  else {
    again.focus({ preventScroll: true });
    if (typeof selectionStart === "number") again.setSelectionRange(selectionStart, selectionEnd);
  }
}
