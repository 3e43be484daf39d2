// SPDX-License-Identifier: GPL-2.0-or-later
// The tree of a flame graph. What a frame has called is only worked out when it is drawn or gone to.

class Node {
	constructor(label, parent, value, sites) {
		this.label = label;
		this.parent = parent;
		this.depth = parent ? parent.depth + 1 : 0;
		this.value = value;
		this.sites = sites;
		this.made = null;
	}
}

/** `values`: of each site; what is 0 or less is left out. `inverted`: from the allocator's function outwards. */
class Tree {
	constructor(model, values, inverted) {
		this.model = model;
		this.values = values;
		this.inverted = inverted;
		const sites = [];
		let sum = 0;
		values.forEach((value, site) => {
			if (value > 0) {
				sites.push(site);
				sum += value;
			}
		});
		this.root = new Node(-1, null, sum, sites);
	}

	name(node) {
		return node.label < 0 ? 'all' : this.model.labels.names[node.label];
	}

	/** The label of a site at a depth, the first at 0; -1 beyond its last one. */
	labelAt(site, depth) {
		const { paths, starts } = this.model;
		if (depth >= starts[site + 1] - starts[site]) {
			return -1;
		}
		return this.inverted ? paths[starts[site + 1] - 1 - depth] : paths[starts[site] + depth];
	}

	/** What is above a frame, the largest first. */
	children(node) {
		if (node.made) {
			return node.made;
		}
		const found = new Map();
		for (const site of node.sites) {
			const label = this.labelAt(site, node.depth);
			if (label < 0) {
				continue;
			}
			const child = found.get(label);
			if (child) {
				child.value += this.values[site];
				child.sites.push(site);
			} else {
				found.set(label, new Node(label, node, this.values[site], [site]));
			}
		}
		node.made = [...found.values()].sort((a, b) => b.value - a.value || a.label - b.label);
		return node.made;
	}

	/** A frame and those below it, the root first. */
	line(node) {
		const found = [];
		for (let at = node; at; at = at.parent) {
			found.unshift(at);
		}
		return found;
	}

	/** The first frame that was found, the largest first; `skip` of them are left out. */
	find(found, skip) {
		const left = [this.root];
		let passed = 0;
		while (left.length) {
			const node = left.pop();
			if (node.label >= 0 && found.labels[node.label] && passed++ === skip) {
				return node;
			}
			if (node.sites.some((site) => found.sites[site])) {
				left.push(...[...this.children(node)].reverse());
			}
		}
		return null;
	}
}
