package a
// fun notHere() {}
const val LIMIT = 10
data class Point(val x: Int, val y: Int) : Shape {
    override fun area(scale: Int): Int = scale
}
interface Shape { fun area(scale: Int): Int }
fun <T> List<T>.second(): T = this[1]
