/* int not_here(void) { } */
#include "c.h"
#define LIMIT 10
#define MAX(a, b) \
	((a) > (b) ? (a) : (b))
typedef struct node {
	struct node *next;
} node_t;
typedef int (*callback)(node_t *n);
enum colour { RED, BLUE };
union value { int i; double d; };
int declared_only(int x);
int defined_below(int x);
static int
defined_below(int x)
{
	return MAX(x, LIMIT);
}
char **names(node_t *n) {
	return walk(n);
}
